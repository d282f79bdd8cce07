import { generateKeyPair, generateProof, type KeyPair } from 'dpop';
import fc from 'fast-check';
import { calculateJwkThumbprint, decodeJwt, exportJWK } from 'jose';
import * as openid from 'openid-client';
import { describe, expect, test } from 'vitest';
import type { AccessTokenClaims } from '../../../../src/auth/access-token.ts';
import { systemActor } from '../../../../src/services.ts';
import { createPersonalAccessToken } from '../../../../src/subject-tokens/personal-access-token.ts';
import { createSubjectToken } from '../../../../src/subject-tokens/subject-token.ts';
import { signOutUser } from '../../../../src/users/sign-out.ts';
import { fetchClientToken } from '../../../support/client-credentials.ts';
import { testCall } from '../../../support/log.ts';
import { seedDirectory, type TestClient } from '../../../support/operations/directory.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { discover } from '../../../support/people/sign-in.ts';
import { startService } from '../../../support/service.ts';
import {
  accessTokenType,
  exchange,
  exchangeGrantType,
  isActive,
  strangerId,
  userToken,
} from '../../../support/tokens.ts';

const service = await startService({ TRUST_PROXY: '1' });
const { issuer, database } = service.app.services;
const directory = seedDirectory(database, service.clock);
const { done } = createMaker(overGraphQL(service, await service.managementToken()));
const frontend = await directory.createClient({ type: 'SPA' });
const agent = await directory.createClient();
const backend = await directory.createClient({
  allowTokenExchange: true,
  allowImpersonation: true,
  allowPersonalAccessTokens: true,
  mayActFor: [agent.id],
});
const orders = await directory.createResource(['read', 'write']);
const alice = await directory.createUser();
const bob = await directory.createUser();
await directory.allowUser(alice, orders, ['read']);

const subject = (claims: Partial<AccessTokenClaims> = {}) =>
  userToken(service, alice.id, frontend, claims);
const actorOf = (client: TestClient) =>
  fetchClientToken(service, client, { resource: orders.indicator });
const ask = async (
  parameters: Record<string, string | undefined>,
  { by = backend, proof }: { by?: TestClient; proof?: KeyPair | undefined } = {},
) =>
  exchange(
    service,
    by,
    {
      subject_token: await subject(),
      resource: orders.indicator,
      scope: 'read write',
      ...('actor_token' in parameters ? { actor_token_type: accessTokenType } : {}),
      ...parameters,
    },
    proof ? { dpop: await generateProof(proof, `${issuer}/token`, 'POST') } : {},
  );
const claimsOf = ({ body }: { body: Record<string, unknown> }) =>
  decodeJwt<AccessTokenClaims>(String(body['access_token']));
const refused = { status: 400, body: { error: 'invalid_request' } };
const context = {
  ...service.app.services,
  actor: { type: 'APPLICATION', id: agent.id },
  ...testCall,
} as const;

describe('an actor token', () => {
  test('names the actor: of an application that the client may act for, or its own', async () => {
    for (const actor of [agent, backend]) {
      const answer = await ask({ actor_token: await actorOf(actor) });
      expect(answer).toMatchObject({ status: 200, body: { scope: 'read' } });
      expect(claimsOf(answer)).toMatchObject({
        sub: alice.id,
        client_id: backend.id,
        act: { sub: actor.id, client_id: actor.id },
      });
    }
    const { body } = await ask({});
    expect(claimsOf({ body }).act).toEqual({ sub: backend.id });
  });

  test('of a person names them and their application, and whoever acted before', async () => {
    const earlier = await ask({});
    const answer = await ask({
      subject_token: String(earlier.body['access_token']),
      actor_token: await userToken(service, bob.id, agent),
    });
    expect(claimsOf(answer).act).toEqual({
      sub: bob.id,
      client_id: agent.id,
      act: { sub: backend.id },
    });
  });

  test('is sent by an unmodified client', async () => {
    const config = await discover(service, backend);
    const tokens = await openid.genericGrantRequest(config, exchangeGrantType, {
      subject_token: await subject(),
      subject_token_type: accessTokenType,
      actor_token: await actorOf(agent),
      actor_token_type: accessTokenType,
      resource: orders.indicator,
      scope: 'read',
    });
    expect(decodeJwt(tokens.access_token)['act']).toEqual({ sub: agent.id, client_id: agent.id });
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toMatchObject({
      active: true,
      act: { sub: agent.id, client_id: agent.id },
    });
  });

  test('is refused of any other application', async () => {
    const stranger = await directory.createClient();
    expect(await ask({ actor_token: await actorOf(stranger) })).toMatchObject(refused);
    const other = await directory.createClient({ allowTokenExchange: true });
    const actor_token = await actorOf(agent);
    expect(await ask({ actor_token }, { by: other })).toMatchObject(refused);
    await done('updateApplication', { id: other.id, mayActFor: [agent.id] });
    expect(await ask({ actor_token }, { by: other })).toMatchObject({ status: 200 });
    await done('updateApplication', { id: other.id, mayActFor: null });
    expect(await ask({ actor_token }, { by: other })).toMatchObject(refused);
  });

  test('is refused once it is no longer good', async () => {
    const carol = await directory.createUser();
    const actor_token = await userToken(service, carol.id, agent);
    const issued = await ask({ actor_token });
    expect(issued).toMatchObject({ status: 200 });
    await signOutUser({ ...context, actor: systemActor }, { id: carol.id });
    expect(await ask({ actor_token })).toMatchObject(refused);
    const suspended = await directory.createUser({ isSuspended: true });
    const exp = Math.floor(service.clock.now().getTime() / 1000) - 1;
    for (const token of [
      await userToken(service, suspended.id, agent),
      await userToken(service, strangerId(), agent),
      await userToken(service, bob.id, agent, { exp }),
      await userToken(service, bob.id, agent, { iss: 'https://evil.example.com' }),
      `${await userToken(service, bob.id, agent)}x`,
      'x',
    ])
      expect(await ask({ actor_token: token })).toMatchObject(refused);
  });

  test('that is revoked ends what was issued with it, and so does the end of its application', async () => {
    const actor = await directory.createClient();
    await done('updateApplication', { id: backend.id, mayActFor: [agent.id, actor.id] });
    const [jti, grantId] = [crypto.randomUUID(), crypto.randomUUID()];
    const token = await userToken(service, bob.id, actor, { jti, lineage: [grantId] });
    const first = (await ask({ actor_token: token })).body['access_token'];
    const second = (await ask({ actor_token: await actorOf(actor) })).body['access_token'];
    for (const one of [first, second]) expect(await isActive(service, backend, one)).toBe(true);
    const expiresAt = new Date(service.clock.now().getTime() + 3_600_000);
    await database.prisma.revokedToken.create({ data: { jti: grantId, expiresAt } });
    expect(await isActive(service, backend, first)).toBe(false);
    expect(await isActive(service, backend, second)).toBe(true);
    await done('deleteApplication', { id: actor.id });
    expect(await isActive(service, backend, second)).toBe(false);
  });

  test('and its type come together, and it is an access token', async () => {
    const actor_token = await actorOf(agent);
    for (const parameters of [
      { actor_token, actor_token_type: undefined },
      { actor_token_type: accessTokenType },
      { actor_token, actor_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
    ])
      expect(await ask(parameters)).toMatchObject(refused);
  });

  test('limits how long the new token lives', async () => {
    const exp = Math.floor(service.clock.now().getTime() / 1000) + 60;
    const answer = await ask({ actor_token: await userToken(service, bob.id, agent, { exp }) });
    expect(claimsOf(answer).exp).toBe(exp);
  });

  test('that is bound needs a proof of its key', async () => {
    const [keys, others] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
    const jkt = await calculateJwkThumbprint(await exportJWK(keys.publicKey));
    const actor_token = await userToken(service, bob.id, agent, { cnf: { jkt } });
    expect(await ask({ actor_token })).toMatchObject(refused);
    expect(await ask({ actor_token }, { proof: others })).toMatchObject(refused);
    const answer = await ask({ actor_token }, { proof: keys });
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
    expect(claimsOf(answer).cnf).toEqual({ jkt });
    // Whoever may change the key of a subject may not change that of an actor.
    const rebinding = await directory.createClient({
      allowTokenExchange: true,
      mayRebindTokens: true,
      mayActFor: [agent.id],
    });
    expect(await ask({ actor_token }, { proof: others, by: rebinding })).toMatchObject(refused);
  });

  test('of a personal access token carries its bounds, through every exchange', async () => {
    await directory.allowUser(bob, orders, ['read', 'write']);
    const expiresAt = new Date(service.clock.now().getTime() + 3_600_000);
    const { token } = await createPersonalAccessToken(context, {
      userId: bob.id,
      name: 'narrow',
      scopes: ['write'],
      resource: orders.indicator,
      expiresAt,
    });
    const type = 'urn:signet:params:oauth:token-type:personal_access_token';
    const narrow = await ask({ subject_token: token, subject_token_type: type });
    const actor_token = String(narrow.body['access_token']);
    const answer = await ask({ actor_token });
    expect(answer).toMatchObject({ status: 200, body: { scope: '' } });
    const subject_token = String(answer.body['access_token']);
    expect(await ask({ subject_token })).toMatchObject({ status: 200, body: { scope: '' } });
    const elsewhere = await directory.createResource(['read']);
    for (const parameters of [{ actor_token }, { subject_token }])
      expect(await ask({ ...parameters, resource: elsewhere.indicator })).toMatchObject({
        status: 400,
        body: { error: 'invalid_target' },
      });
  });
});

describe('may_act', () => {
  const impersonate = async (mayAct?: { sub?: string; clientId?: string }) => ({
    subject_token: (
      await createSubjectToken(context, {
        userId: alice.id,
        reason: 'A test',
        ...(mayAct && { mayAct }),
      })
    ).token,
    subject_token_type: 'urn:signet:params:oauth:token-type:subject_token',
  });

  test('of a subject token lets that actor alone, and stays in what is exchanged', async () => {
    const mayAct = { sub: bob.id, clientId: agent.id };
    const parameters = await impersonate(mayAct);
    expect(await ask(parameters)).toMatchObject(refused);
    expect(await ask({ ...parameters, actor_token: await actorOf(agent) })).toMatchObject(refused);
    const wrong = await userToken(service, alice.id, agent);
    expect(await ask({ ...parameters, actor_token: wrong })).toMatchObject(refused);
    const through = await userToken(service, bob.id, backend);
    expect(await ask({ ...parameters, actor_token: through })).toMatchObject(refused);
    // None of it has used the token up.
    const actor_token = await userToken(service, bob.id, agent);
    const answer = await ask({ ...parameters, actor_token });
    const may_act = { sub: bob.id, client_id: agent.id };
    expect(claimsOf(answer)).toMatchObject({ may_act, act: { sub: bob.id, client_id: agent.id } });
    const subject_token = String(answer.body['access_token']);
    expect(await ask({ subject_token })).toMatchObject(refused);
    expect(claimsOf(await ask({ subject_token, actor_token }))).toMatchObject({ may_act });
  });

  test('of the client needs no actor token', async () => {
    for (const mayAct of [{ sub: backend.id }, { clientId: backend.id }])
      expect(await ask(await impersonate(mayAct))).toMatchObject({ status: 200 });
    expect(await ask(await impersonate({ clientId: agent.id }))).toMatchObject(refused);
    const anyOfAgent = await impersonate({ clientId: agent.id });
    const actor_token = await userToken(service, bob.id, agent);
    expect(await ask({ ...anyOfAgent, actor_token })).toMatchObject({ status: 200 });
  });

  test.each<[string, unknown]>([
    ['names nobody', {}],
    ['is no object', 'x'],
    ['is a list', []],
    ['says more than is known here', { client_id: '', iss: 'https://evil.example.com' }],
  ])('that %s lets nobody', async (_what, may_act) => {
    const claims = { may_act: may_act as object };
    expect(await ask({ subject_token: await subject(claims) })).toMatchObject(refused);
  });

  test('names somebody who exists', async () => {
    const input = { userId: alice.id, reason: 'A test' };
    await expect(done('createSubjectToken', { ...input, mayAct: {} })).rejects.toThrow(
      /INVALID_INPUT/,
    );
    for (const mayAct of [
      { sub: strangerId() },
      { clientId: 'app_01h455vb4pex5vsknk084sn02q' },
      { clientId: bob.id },
    ])
      await expect(done('createSubjectToken', { ...input, mayAct })).rejects.toThrow(/NOT_FOUND/);
    const { subjectToken } = await done('createSubjectToken', {
      ...input,
      mayAct: { sub: bob.id },
    });
    const stored = await database.prisma.subjectToken.findUniqueOrThrow({
      where: { id: subjectToken.id },
    });
    expect(stored.mayAct).toEqual({ sub: bob.id });
  });
});

describe('every chain of exchanges', async () => {
  const rebinding = await directory.createClient({
    allowTokenExchange: true,
    mayRebindTokens: true,
    mayActFor: [agent.id, backend.id],
  });
  const narrowApis = await directory.createResource(['read', 'write', 'admin']);
  await directory.allowUser(alice, narrowApis, ['read', 'write']);
  const pairs = [await generateKeyPair('ES256'), await generateKeyPair('ES256')] as const;
  const thumbprints = await Promise.all(
    pairs.map(async ({ publicKey }) => calculateJwkThumbprint(await exportJWK(publicKey))),
  );
  const step = fc.record({
    by: fc.constantFrom(backend, rebinding),
    proof: fc.constantFrom(undefined, 0, 1),
    actor: fc.constantFrom('none', 'agent', 'bob', 'bob bound', 'subject itself'),
    target: fc.constantFrom(orders, narrowApis),
    scope: fc.constantFrom('read', 'read write', 'read write admin', undefined),
  });
  const held = new Map([
    [orders.indicator, ['read']],
    [narrowApis.indicator, ['read', 'write']],
  ]);

  test('keeps what is bound bound, and the scopes within those of the subject', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(undefined, 0, 1),
        fc.array(step, { minLength: 1, maxLength: 4 }),
        async (first, steps) => {
          const cnf = first === undefined ? {} : { cnf: { jkt: thumbprints[first] as string } };
          let token = await subject(cnf);
          for (const { by, proof, actor, target, scope } of steps) {
            const actors = {
              agent: () => actorOf(agent),
              bob: () => userToken(service, bob.id, agent),
              'bob bound': () =>
                userToken(service, bob.id, agent, { cnf: { jkt: thumbprints[0] as string } }),
              'subject itself': async () => token,
            };
            const answer = await ask(
              {
                subject_token: token,
                resource: target.indicator,
                scope,
                ...(actor === 'none' ? {} : { actor_token: await actors[actor as 'agent']() }),
              },
              { by, proof: proof === undefined ? undefined : pairs[proof] },
            );
            if (answer.status !== 200) continue;
            const [before, after] = [decodeJwt<AccessTokenClaims>(token), claimsOf(answer)];
            if (before.cnf) expect(after.cnf).toBeDefined();
            if (actor === 'bob bound') expect(after.cnf).toEqual({ jkt: thumbprints[0] });
            expect(after.cnf?.jkt).toBe(proof === undefined ? undefined : thumbprints[proof]);
            expect(after.sub).toBe(alice.id);
            expect(after.exp).toBeLessThanOrEqual(before.exp);
            const granted = (after.scope ?? '').split(' ').filter((name) => name !== '');
            expect(held.get(target.indicator)).toEqual(expect.arrayContaining(granted));
            expect((scope ?? '').split(' ')).toEqual(expect.arrayContaining(granted));
            token = String(answer.body['access_token']);
          }
        },
      ),
      { numRuns: 40, seed: 20261124 },
    );
  });
});
