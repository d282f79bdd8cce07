import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { accountIndicator, managementIndicator } from '../../../../src/auth/scopes.ts';
import { systemActor } from '../../../../src/services.ts';
import { signOutUser } from '../../../../src/users/sign-out.ts';
import { basic } from '../../../support/client-credentials.ts';
import {
  assertionGrantType,
  type Spoken,
  startForeignIssuer,
} from '../../../support/keys/foreign-issuer.ts';
import { testCall } from '../../../support/log.ts';
import { seedDirectory } from '../../../support/operations/directory.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { startSecondNode, startService } from '../../../support/service.ts';
import { exchange, formOf, isActive, postToken } from '../../../support/tokens.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const otherNode = await startSecondNode(service);
const { issuer: here, database } = service.app.services;
const directory = seedDirectory(database, service.clock);
const make = createMaker(overGraphQL(service, await service.managementToken()));
const { done, next } = make;
const company = await startForeignIssuer(service);
const client = await directory.createClient({ type: 'TRADITIONAL' });
const resource = await directory.createResource(['read', 'write', 'delete']);
const providerId = await make.identityProvider();
const createPerson = async (subject: string) => {
  const user = await directory.createUser();
  await directory.allowUser(user, resource, ['read', 'write']);
  await directory.createIdentity(user.id, providerId, { issuer: company.issuer, subject });
  return user;
};
const ada = await createPerson('ada');
const trust = async (values: Record<string, unknown> = {}): Promise<string> =>
  (
    await done('createTrustedIssuer', {
      name: next('issuer'),
      issuer: company.issuer,
      jwksUri: company.jwksUri,
      kind: 'IDENTITY',
      applicationId: client.id,
      ...values,
    })
  ).trustedIssuer.id;
const trusted = await trust();

const ask = async (
  assertion: string,
  parameters: Record<string, string | undefined> = {},
  { as = client, at = service }: { as?: typeof client | null; at?: { url: string } } = {},
) =>
  postToken(
    at,
    formOf({
      grant_type: assertionGrantType,
      assertion,
      resource: resource.indicator,
      scope: 'read delete',
      ...parameters,
    }),
    as ? { authorization: basic(as.id, as.secret) } : {},
  );
const sign = (subject = 'ada', spoken: Spoken = {}) =>
  company.signIdentity(subject, client.id, spoken);
const refused = { status: 400, body: { error: 'invalid_grant' } };
const now = company.now;

test('an identity assertion gets a token of the linked user', async () => {
  const { status, body } = await ask(await sign());
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { token_type: 'Bearer', scope: 'read' },
  });
  expect(body).not.toHaveProperty('refresh_token');
  const claims = decodeJwt(String(body['access_token']));
  expect(claims).toMatchObject({ sub: ada.id, client_id: client.id, aud: resource.indicator });
  expect(await isActive(service, client, body['access_token'])).toBe(true);
});

test.each<[string, () => Record<string, unknown>, object?]>([
  ['without a type', () => ({}), { typ: undefined }],
  ['of another type', () => ({}), { typ: 'JWT' }],
  ['of a type in capitals', () => ({}), { typ: 'OAUTH-ID-JAG+JWT' }],
  ['for a list of audiences', () => ({ aud: [here] })],
  ['for another audience', () => ({ aud: 'https://elsewhere.example.com' })],
  ['without an audience', () => ({ aud: undefined })],
  ['for another application', () => ({ client_id: 'app_01h455vb4pex5vsknk084sn02q' })],
  ['for no application', () => ({ client_id: undefined })],
  ['about a stranger', () => ({ sub: 'eve' })],
  ['about nobody', () => ({ sub: undefined })],
  ['without a jti', () => ({ jti: undefined })],
  ['that has expired', () => ({ exp: now() - 1 })],
  ['that lives for too long', () => ({ exp: now() + 310 })],
  ['without an end', () => ({ exp: undefined })],
  ['from the future', () => ({ iat: now() + 120 })],
  ['of another issuer', () => ({ iss: 'https://evil.example.com' })],
])('one %s is refused', async (_what, claims, header) => {
  const assertion = await sign('ada', { claims: claims(), ...(header && { header }) });
  expect(await ask(assertion)).toMatchObject(refused);
});

describe('an identity assertion', () => {
  test('needs the client that it is for', async () => {
    const assertion = await sign();
    expect(await ask(assertion, {}, { as: null })).toMatchObject({ status: 401 });
    expect(await ask(assertion, { client_id: client.id }, { as: null })).toMatchObject({
      status: 401,
    });
    const other = await directory.createClient({ type: 'TRADITIONAL' });
    expect(await ask(assertion, {}, { as: other })).toMatchObject(refused);
    const wrong = { ...client, secret: 'wrong' };
    expect(await ask(assertion, {}, { as: wrong })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    expect(await ask(assertion)).toMatchObject({ status: 200 });
  });

  test('counts once, on two nodes at once', async () => {
    const assertion = await sign();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => ask(assertion, {}, { at: i % 2 ? service : otherNode })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body['error'] === 'invalid_grant')).toHaveLength(7);
  });

  test('names the resource and the scopes, which the request cannot widen', async () => {
    const claims = { resource: resource.indicator, scope: 'write delete' };
    const silent = { resource: undefined, scope: undefined };
    expect(await ask(await sign('ada', { claims }), silent)).toMatchObject({
      status: 200,
      body: { scope: 'write' },
    });
    expect(await ask(await sign('ada', { claims }))).toMatchObject({ body: { scope: '' } });
    const none = { resource: resource.indicator, scope: '' };
    expect(await ask(await sign('ada', { claims: none }))).toMatchObject({ body: { scope: '' } });
    const elsewhere = { resource: 'https://other.example.com' };
    expect(await ask(await sign('ada', { claims: elsewhere }))).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
    expect(await ask(await sign(), silent)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  test('is refused for a user who is suspended, signed out since, or unlinked', async () => {
    const user = await createPerson('grace');
    const before = await sign('grace');
    const { body } = await ask(await sign('grace'));
    const context = { ...service.app.services, actor: systemActor, ...testCall };
    await signOutUser(context, { id: user.id });
    expect(await ask(before)).toMatchObject(refused);
    expect(await isActive(service, client, body['access_token'])).toBe(false);
    service.clock.advance(2_000);
    expect(await ask(await sign('grace'))).toMatchObject({ status: 200 });
    await done('updateUserSuspensionStatus', { id: user.id, isSuspended: true });
    service.clock.advance(2_000);
    expect(await ask(await sign('grace'))).toMatchObject(refused);
    await done('updateUserSuspensionStatus', { id: user.id, isSuspended: false });
    service.clock.advance(2_000);
    expect(await ask(await sign('grace'))).toMatchObject({ status: 200 });
    await done('updateIdentityProvider', { id: providerId, enabled: false });
    expect(await ask(await sign('grace'))).toMatchObject(refused);
    await done('updateIdentityProvider', { id: providerId, enabled: true });
    await database.prisma.userIdentity.deleteMany({ where: { userId: user.id } });
    expect(await ask(await sign('grace'))).toMatchObject(refused);
  });

  test('gets a third party what the person has allowed it', async () => {
    const agent = await directory.createClient({ type: 'TRADITIONAL', isThirdParty: true });
    await trust({ applicationId: agent.id });
    const assert = async () => ask(await company.signIdentity('ada', agent.id), {}, { as: agent });
    expect(await assert()).toMatchObject({ status: 200, body: { scope: '' } });
    const grant = await directory.createGrant(ada.id, agent.id);
    await database.prisma.userGrantScope.create({
      data: { grantId: grant.id, resource: resource.indicator, name: 'read' },
    });
    expect(await assert()).toMatchObject({ status: 200, body: { scope: 'read' } });
  });

  describe('gets what ends', () => {
    const partner = () =>
      directory.createClient({ allowTokenExchange: true, exchangeThirdPartySubjectTokens: true });
    /** A token, what it is exchanged for, and whether both live, and what is asked of them. */
    const issue = async (as: typeof client, backend: typeof client) => {
      await trust({ applicationId: as.id });
      const assert = async () => {
        const { body } = await ask(await company.signIdentity('ada', as.id), {}, { as });
        return String(body['access_token']);
      };
      const first = await assert();
      const swap = (subject_token: string) =>
        exchange(service, backend, {
          subject_token,
          resource: resource.indicator,
          scope: 'read',
        });
      const second = String((await swap(first)).body['access_token']);
      const states = async (...tokens: string[]) => {
        const alive = await Promise.all(
          tokens.map(async (token) => [
            await isActive(service, backend, token),
            (await swap(token)).status,
          ]),
        );
        return alive.flat();
      };
      return { assert, states: () => states(first, second), statesOf: states };
    };
    const allow = async (as: typeof client) => {
      const grant = await directory.createGrant(ada.id, as.id);
      await database.prisma.userGrantScope.create({
        data: { grantId: grant.id, resource: resource.indicator, name: 'read' },
      });
      return grant.id;
    };
    const alive = [true, 200];
    const ended = [false, 400];

    test.each([true, false])(
      'with the consent to an application (a third party’s: %s)',
      async (isThirdParty) => {
        const agent = await directory.createClient({ type: 'TRADITIONAL', isThirdParty });
        const other = await directory.createClient({ type: 'TRADITIONAL', isThirdParty });
        const backend = await partner();
        const grantId = await allow(agent);
        await allow(other);
        const issued = await issue(agent, backend);
        const others = await issue(other, backend);
        expect(await issued.states()).toEqual([...alive, ...alive]);
        await done('revokeUserGrant', { userId: ada.id, grantId });
        expect(await issued.states()).toEqual([...ended, ...ended]);
        expect(await others.states()).toEqual([...alive, ...alive]);
        // A consent that is given anew brings none of them back, and has tokens of its own.
        await allow(agent);
        expect(await issued.states()).toEqual([...ended, ...ended]);
        expect(await issued.statesOf(await issued.assert())).toEqual(alive);
      },
    );

    test('while its application, which was the operator’s own, is a third party’s', async () => {
      const tool = await directory.createClient({ type: 'TRADITIONAL' });
      const backend = await partner();
      const issued = await issue(tool, backend);
      expect(await issued.states()).toEqual([...alive, ...alive]);
      await done('updateApplication', { id: tool.id, isThirdParty: true });
      expect(await issued.states()).toEqual([...ended, ...ended]);
      await allow(tool);
      expect(await issued.states()).toEqual([...ended, ...ended]);
      expect(await issued.statesOf(await issued.assert())).toEqual(alive);
      await done('updateApplication', { id: tool.id, isThirdParty: false });
      expect(await issued.statesOf(await issued.assert())).toEqual(alive);
    });
  });

  test('stands for no second factor at the APIs of this service', async () => {
    const user = await createPerson('hopper');
    const own = async (indicator: string, scope: string) =>
      ask(await sign('hopper'), { resource: indicator, scope });
    const account = () => own(accountIndicator, 'account:write');
    const management = () => own(managementIndicator, 'users:read');
    expect(await account()).toMatchObject({ status: 200, body: { scope: 'account:write' } });
    const organization = await directory.createOrganization();
    await done('updateOrganization', { id: organization.id, requiresFactor: true });
    await done('addOrganizationUsers', { organizationId: organization.id, userIds: [user.id] });
    expect(await account()).toMatchObject({ status: 200 });
    await done('updateSignInExperience', { factors: ['TOTP'] });
    expect(await account()).toMatchObject(refused);
    await done('removeOrganizationUser', { organizationId: organization.id, userId: user.id });
    expect(await account()).toMatchObject({ status: 200 });
    await directory.createFactor(user.id);
    expect(await account()).toMatchObject(refused);
    expect(await management()).toMatchObject(refused);
    // Other APIs are for the operator to judge, as with a sign-in elsewhere.
    expect(await ask(await sign('hopper'))).toMatchObject({ status: 200, body: { scope: 'read' } });
    // Nor does a detour lead there, also for applications that exchange tokens of people for these APIs.
    const indicator = accountIndicator;
    const gateway = await directory.createClient({
      allowTokenExchange: true,
      exchangeResources: [indicator, resource.indicator],
    });
    const { body } = await ask(await sign('hopper'));
    const through = { resource: resource.indicator, scope: 'read' };
    const subject_token = String(body['access_token']);
    const second = await exchange(service, gateway, { subject_token, ...through });
    expect(second).toMatchObject({ status: 200, body: { scope: 'read' } });
    for (const token of [subject_token, String(second.body['access_token'])])
      expect(
        await exchange(service, gateway, {
          subject_token: token,
          resource: indicator,
          scope: 'account:write',
        }),
      ).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    await done('updateSignInExperience', { factors: [] });
  });

  test('gets what can be exchanged further, until its issuer is deleted', async () => {
    const id = trusted;
    const backend = await directory.createClient({ allowTokenExchange: true });
    const { body } = await ask(await sign());
    const subject_token = String(body['access_token']);
    const parameters = { subject_token, resource: resource.indicator, scope: 'read' };
    const further = await exchange(service, backend, parameters);
    expect(further).toMatchObject({ status: 200, body: { scope: 'read' } });
    await done('deleteTrustedIssuer', { id });
    expect(await exchange(service, backend, parameters)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    expect(await isActive(service, backend, further.body['access_token'])).toBe(false);
    expect(await ask(await sign())).toMatchObject(refused);
  });
});

describe('an issuer of identities', () => {
  const ofEverybody = [
    { claim: 'iss', equals: company.issuer },
    { claim: 'aud', equals: here },
  ];
  const settings = {
    name: 'Company',
    issuer: company.issuer,
    jwksUri: company.jwksUri,
    kind: 'IDENTITY',
    applicationId: client.id,
  };
  test.each<[string, object, RegExp]>([
    ['lets no assertion live longer', { maxLifetimeSeconds: 301 }, /INVALID_INPUT.*maxLifetime/],
    ['lets none go without a jti', { requireJti: false }, /INVALID_INPUT.*requireJti/],
    ['is another one', { issuer: here }, /INVALID_INPUT.*issuer/],
    ['names the workload', { kind: 'WORKLOAD', claimRules: [] }, /INVALID_INPUT.*claimRules/],
    [
      'names it by what not everybody there has',
      { kind: 'WORKLOAD', claimRules: ofEverybody },
      /INVALID_INPUT.*claimRules/,
    ],
  ])('%s', async (_what, values, message) => {
    await expect(done('createTrustedIssuer', { ...settings, ...values })).rejects.toThrow(message);
  });

  test('is for an application that fits', async () => {
    const spa = await directory.createClient({ type: 'SPA' });
    const web = await directory.createClient({ type: 'TRADITIONAL' });
    const claimRules = [{ claim: 'sub', equals: 'x' }];
    for (const values of [
      { applicationId: spa.id },
      { applicationId: web.id, kind: 'WORKLOAD', claimRules },
      { applicationId: 'app_0000000000000000000c0ns01e' },
    ])
      await expect(done('createTrustedIssuer', { ...settings, ...values })).rejects.toThrow(
        /NOT_ALLOWED/,
      );
  });
});
