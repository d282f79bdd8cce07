import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { basic } from '../../support/client-credentials.ts';
import { discover } from '../../support/people/sign-in.ts';
import { createSignInFixture } from '../../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { postToken } from '../../support/tokens.ts';

const service = await startService();
const otherNode = await startSecondNode(service);
const fixture = await createSignInFixture(service);
const { client, resource } = fixture;
const scope = 'openid offline_access read';
const second = 1000;

/** A sign-in with its first refresh token. */
async function signIn(application: { id: string; secret?: string } = client) {
  const tokens = await fixture.signIn({
    scope,
    resource: resource.indicator,
    client: application,
  });
  return tokens.refresh_token ?? '';
}

interface Answer {
  readonly status: number;
  readonly error: unknown;
  readonly access: string;
  readonly refresh: string;
}

/** The token endpoint's answer to a refresh token, of either node. */
async function use(
  token: string,
  by: { id: string; secret: string } = client,
  at: { url: string } = service,
): Promise<Answer> {
  const { status, body } = await postToken(
    at,
    new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token }),
    { authorization: basic(by.id, by.secret) },
  );
  return {
    status,
    error: body['error'],
    access: String(body['access_token']),
    refresh: String(body['refresh_token']),
  };
}

const accepted = { status: 200, error: undefined };
const refused = { status: 400, error: 'invalid_grant' };

async function isActive(accessToken: string): Promise<boolean> {
  const configuration = await discover(service, client);
  return (await oidc.tokenIntrospection(configuration, accessToken)).active;
}

/** Asserts that nothing of a family is left. */
async function expectEnded(answers: readonly Answer[]): Promise<void> {
  for (const { access, refresh } of answers) {
    expect(await isActive(access)).toBe(false);
    expect(await use(refresh)).toMatchObject(refused);
  }
}

test('what is bound to a key is proven each time', async () => {
  const spa = await fixture.createApplication({
    type: 'SPA',
    refreshTokenReuseSeconds: 300,
  });
  const configuration = await discover(service, { id: spa.id });
  const keyed = async () => oidc.getDPoPHandle(configuration, await oidc.randomDPoPKeyPair());
  const [DPoP, another] = [await keyed(), await keyed()];
  const refresh = (token: string, handle?: Awaited<ReturnType<typeof keyed>>) =>
    oidc.refreshTokenGrant(configuration, token, undefined, handle ? { DPoP: handle } : {}).then(
      ({ token_type, refresh_token = '' }) => [token_type, refresh_token] as const,
      ({ error }: oidc.ResponseBodyError) => [error, ''] as const,
    );
  for (const isBoundAtSignIn of [true, false]) {
    const tokens = await fixture.signIn({
      client: { id: spa.id },
      scope,
      ...(isBoundAtSignIn ? { DPoP } : {}),
    });
    const token = tokens.refresh_token ?? '';
    expect(await refresh(token, DPoP)).toMatchObject(['dpop', expect.any(String)]);
    expect(await refresh(token)).toMatchObject(['invalid_grant', '']);
    expect(await refresh(token, another)).toMatchObject(['invalid_grant', '']);
    const [type, next] = await refresh(token, DPoP);
    expect(type).toBe('dpop');
    expect(await refresh(next, another)).toMatchObject(['invalid_grant', '']);
    expect(await refresh(next, DPoP)).toMatchObject(['dpop', expect.any(String)]);
  }
});

describe('where no time passes by itself', () => {
  beforeAll(() => {
    service.clock.freeze();
  });
  test('two tabs that refresh with the same token both go on', async () => {
    const token = await signIn();
    let tabs: Answer[] = await Promise.all([use(token), use(token, client, otherNode)]);
    for (let round = 0; round < 3; round += 1) {
      expect(tabs).toMatchObject([accepted, accepted]);
      expect(new Set(tabs.map(({ refresh }) => refresh)).size).toBe(2);
      for (const { access } of tabs) {
        expect(decodeJwt(access)['scope']).toBe('read');
        expect(await isActive(access)).toBe(true);
      }
      tabs = await Promise.all(tabs.map(({ refresh }) => use(refresh)));
    }
  });

  test('a client that lost the answer gets another one', async () => {
    const token = await signIn();
    const lost = await use(token);
    service.clock.advance(29 * second);
    const again = await use(token);
    expect(again).toMatchObject(accepted);
    expect(await isActive(lost.access)).toBe(true);
    expect(await use(again.refresh)).toMatchObject(accepted);
  });

  test('32 requests at once go on and each can be used once more; a 33rd ends the family', async () => {
    const token = await signIn();
    const many = Array.from({ length: 32 }, (_, i) => (i % 2 ? service : otherNode));
    const first = await Promise.all(many.map((node) => use(token, client, node)));
    expect(first.map(({ status }) => status)).toEqual(many.map(() => 200));
    const next = await Promise.all(
      first.map(({ refresh }, i) => use(refresh, client, i % 2 ? otherNode : service)),
    );
    expect(next.map(({ status }) => status)).toEqual(many.map(() => 200));
    expect(new Set(next.map(({ refresh }) => refresh)).size).toBe(32);

    const other = await signIn();
    const all = await Promise.all(many.map((node) => use(other, client, node)));
    expect(all.map(({ status }) => status)).toEqual(many.map(() => 200));
    expect(await use(other)).toMatchObject(refused);
    await expectEnded(all);
  });

  test('once a successor was used, the token ends its family', async () => {
    const token = await signIn();
    const first = await use(token);
    const beside = await use(token);
    const next = await use(first.refresh);
    expect(next).toMatchObject(accepted);
    expect(await use(token)).toMatchObject(refused);
    await expectEnded([first, beside, next]);
  });

  test('a used token ends its family after 30 seconds', async () => {
    const token = await signIn();
    const first = await use(token);
    service.clock.advance(20 * second);
    // The time runs from its first use.
    expect(await use(token)).toMatchObject(accepted);
    service.clock.advance(11 * second);
    expect(await use(token)).toMatchObject(refused);
    await expectEnded([first]);
  });

  test('the time is of the application, and 0 switches it off', async () => {
    const longer = await fixture.createApplication({ refreshTokenReuseSeconds: 300 });
    const token = await signIn(longer);
    expect(await use(token, longer)).toMatchObject(accepted);
    service.clock.advance(299 * second);
    expect(await use(token, longer)).toMatchObject(accepted);
    service.clock.advance(2 * second);
    expect(await use(token, longer)).toMatchObject(refused);

    const never = await fixture.createApplication({ refreshTokenReuseSeconds: 0 });
    const once = await signIn(never);
    const answer = await use(once, never);
    expect(answer).toMatchObject(accepted);
    expect(await use(once, never)).toMatchObject(refused);
    expect(await use(answer.refresh, never)).toMatchObject(refused);
  });

  test('another application gets nothing for it, and ends nothing', async () => {
    const other = await fixture.createApplication();
    const token = await signIn();
    const { refresh } = await use(token);
    expect(await use(token, other)).toMatchObject(refused);
    expect(await use(refresh)).toMatchObject(accepted);
  });

  test('a reused token tells that the tokens ended, and a second tab does not', async () => {
    const { prisma } = service.app.services.database;
    const ended = () => prisma.event.count({ where: { type: 'User.Session.Ended' } });
    const before = await ended();
    const token = await signIn();
    const { refresh } = await use(token);
    await use(token);
    await use(refresh);
    expect(await ended()).toBe(before);
    await use(token);
    expect(await ended()).toBe(before + 1);
  });
});
