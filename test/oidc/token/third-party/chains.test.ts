import { describe, expect, test } from 'vitest';
import { accountIndicator, managementIndicator } from '../../../../src/auth/scopes.ts';
import type { TestClient } from '../../../support/operations/directory.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { askForCodes } from '../../../support/people/device.ts';
import { openBrowser } from '../../../support/people/sign-in.ts';
import { createSignInFixture, password, refresh } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';
import {
  accessTokenType,
  exchange,
  formOf,
  isActive,
  postToken,
  userToken,
} from '../../../support/tokens.ts';
import { consentDriver, type Pair } from '../../consent/driver.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { directory, resource, client: own, user: ada } = fixture;
const { done } = createMaker(overGraphQL(service, await service.managementToken()));
const { createPair, begin, redeem, grantsOf } = consentDriver(service, fixture);

const careful = await directory.createClient({ allowTokenExchange: true });
const open = { allowTokenExchange: true, exchangeThirdPartySubjectTokens: true } as const;
const relay = await directory.createClient(open);
const target = { resource: resource.indicator, scope: 'read write' };
const swap = (by: TestClient, subject_token: unknown, parameters: object = {}) =>
  exchange(service, by, { subject_token: String(subject_token), ...target, ...parameters });
const passed = async (by: TestClient, token: unknown, parameters: object = {}) => {
  const answer = await swap(by, token, parameters);
  expect(answer).toMatchObject({ status: 200 });
  return String(answer.body['access_token']);
};
const theirs = {
  status: 400,
  body: { error_description: 'subject_token is refused: issued to a third-party application' },
};
const setThirdParty = ({ id }: TestClient, isThirdParty: boolean) =>
  done('updateApplication', {
    id,
    isThirdParty,
    ...(isThirdParty ? { allowTokenExchange: false } : {}),
  });

const asked = { scope: 'openid offline_access read', resource: resource.indicator };
async function allowed(pair: Pair) {
  const { browser, visit, verifier } = await begin(pair, asked);
  return redeem(pair, await browser.submit(visit, {}), verifier);
}

describe('several third parties in one chain', () => {
  test('count until the last of them ceases to be one', async () => {
    const shop = await directory.createClient({ type: 'TRADITIONAL', isThirdParty: true });
    const middle = await directory.createClient({ type: 'TRADITIONAL', ...open });
    const near = await passed(middle, await userToken(service, ada.id, shop));
    const far = await passed(relay, near);
    await done('updateApplication', {
      id: middle.id,
      allowTokenExchange: false,
      exchangeThirdPartySubjectTokens: false,
      isThirdParty: true,
    });
    for (const [client, expected] of [
      [undefined, theirs],
      [shop, theirs],
      [middle, { status: 200 }],
    ] as const) {
      if (client) await setThirdParty(client, false);
      for (const token of [near, far]) expect(await swap(careful, token)).toMatchObject(expected);
    }
  });
});

describe('consent that changes', () => {
  test('withdrawn and given again: what came before stays dead, along the chain', async () => {
    const pair = await createPair();
    const before = await allowed(pair);
    const near = await passed(relay, before.access_token);
    const far = await passed(relay, near);
    const [grant] = await grantsOf(pair.user);
    await done('revokeUserGrant', { userId: pair.user.id, grantId: grant?.id });
    const after = await allowed(pair);
    for (const token of [before.access_token, near, far]) {
      expect(await isActive(service, relay, token)).toBe(false);
      expect(await swap(relay, token)).toMatchObject({ status: 400 });
    }
    await expect(refresh(service, pair.client, String(before.refresh_token))).rejects.toMatchObject(
      { error: 'invalid_grant' },
    );
    expect(await swap(careful, after.access_token)).toMatchObject(theirs);
    expect(await swap(relay, after.access_token)).toMatchObject({ status: 200 });
  });

  test('an application that becomes a third party keeps nothing of its sign-ins', async () => {
    const client = await fixture.createApplication({});
    const signedIn = await fixture.signIn({ client, ...asked });
    const near = await passed(careful, signedIn.access_token);
    await setThirdParty(client, true);
    for (const token of [signedIn.access_token, near]) {
      expect(await isActive(service, careful, token)).toBe(false);
      expect(await swap(relay, token)).toMatchObject({ status: 400 });
    }
    await expect(refresh(service, client, String(signedIn.refresh_token))).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('one that ceases to be has tokens as any other, refreshed ones too', async () => {
    const pair = await createPair();
    const tokens = await allowed(pair);
    const near = await passed(relay, tokens.access_token);
    await setThirdParty(pair.client, false);
    const refreshed = await refresh(service, pair.client, String(tokens.refresh_token));
    for (const token of [tokens.access_token, near, refreshed.access_token])
      expect(await swap(careful, token)).toMatchObject({ status: 200 });
    await setThirdParty(pair.client, true);
    for (const token of [tokens.access_token, near, refreshed.access_token])
      expect(await swap(careful, token)).toMatchObject({ status: 400 });
  });
});

test('a device’s token is a third party’s', async () => {
  const device = await fixture.createApplication({
    type: 'NATIVE',
    isThirdParty: true,
    redirectUris: [],
    allowDeviceGrant: true,
  });
  const { body: codes } = await askForCodes(service, device, asked);
  const browser = openBrowser(service.app.services.baseUrl);
  let visit = await browser.submit(await browser.open('/device'), {
    user_code: codes['user_code'] ?? '',
  });
  visit = await browser.submit(visit, { confirm: 'yes' });
  visit = await browser.submit(visit, { identifier: ada.username ?? '', password });
  await browser.submit(visit, {});
  const ask = async (parameters: Record<string, string | undefined>) =>
    (await postToken(service, formOf({ client_id: device.id, ...parameters }))).body;
  const first = await ask({
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: codes['device_code'],
  });
  const next = await ask({
    grant_type: 'refresh_token',
    refresh_token: String(first['refresh_token']),
  });
  for (const { access_token } of [first, next]) {
    expect(await swap(careful, access_token)).toMatchObject(theirs);
    expect(await swap(careful, await passed(relay, access_token))).toMatchObject(theirs);
  }
});

test.each(['id_token', 'refresh_token'] as const)(
  'a third party’s %s is no subject token, under whatever name',
  async (name) => {
    const tokens = await allowed(await createPair());
    for (const subject_token_type of [accessTokenType, tokenType(name)])
      for (const by of [careful, relay])
        expect(await swap(by, tokens[name], { subject_token_type })).toMatchObject({ status: 400 });
  },
);
const tokenType = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;

describe('as the actor', async () => {
  const shop = await directory.createClient({ type: 'SPA', isThirdParty: true });
  const gateway = await directory.createClient({
    ...open,
    mayActFor: [own.id, shop.id, relay.id],
    exchangeResources: [accountIndicator, managementIndicator, resource.indicator],
  });
  const subject = () => userToken(service, ada.id, own);
  const bob = await fixture.createUser();
  const actors = {
    own: () => userToken(service, bob.id, own),
    thirdParty: () => userToken(service, bob.id, shop),
    exchanged: async () => passed(relay, await userToken(service, bob.id, shop)),
  };

  test.each(
    [accountIndicator, managementIndicator].flatMap((indicator) => [
      ['own', indicator, 200] as const,
      ['thirdParty', indicator, 400] as const,
      ['exchanged', indicator, 400] as const,
    ]),
  )('%s, for %s: %d', async (whose, indicator, status) => {
    const actor = { actor_token: await actors[whose](), actor_token_type: accessTokenType };
    const answer = await swap(gateway, await subject(), {
      ...actor,
      resource: indicator,
      scope: '',
    });
    expect(answer).toMatchObject({
      status,
      body: status === 200 ? {} : { error: 'invalid_target' },
    });
    expect(await swap(gateway, await subject(), actor)).toMatchObject({ status: 200 });
  });
});
