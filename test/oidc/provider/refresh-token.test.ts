import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { systemActor } from '../../../src/services.ts';
import { updateUserPassword, updateUserSuspensionStatus } from '../../../src/users/operations.ts';
import { testCall } from '../../support/log.ts';
import { discover } from '../../support/people/sign-in.ts';
import { createSignInFixture, password, refresh } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { database, directory, client, resource } = fixture;
const { prisma } = database;
const context = { ...service.app.services, actor: systemActor, ...testCall };

const scope = 'openid offline_access read write';
const forResource = { resource: resource.indicator };

/** A user of the test's own, signed in, with a refresh token. */
async function signInNewUser(
  values: { client?: { id: string; secret?: string }; scopes?: string[] } = {},
) {
  const user = await fixture.createUser();
  await directory.allowUser(user, resource, values.scopes ?? ['read', 'write']);
  const tokens = await fixture.signIn({
    username: user.username ?? '',
    scope,
    ...forResource,
    ...(values.client ? { client: values.client } : {}),
  });
  return { user, tokens, refreshToken: tokens.refresh_token ?? '' };
}

const errorOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'no error',
    (error: oidc.ResponseBodyError) => error.error,
  );

test('rotates at every use, with and without a client secret', async () => {
  const spa = await fixture.createApplication({ type: 'SPA' });
  const native = await fixture.createApplication({ type: 'NATIVE' });
  for (const application of [client, { id: spa.id }, { id: native.id }]) {
    const { refreshToken, user } = await signInNewUser({ client: application });
    const first = await refresh(service, application, refreshToken, forResource);
    const second = await refresh(service, application, first.refresh_token ?? '', forResource);
    expect(new Set([refreshToken, first.refresh_token, second.refresh_token]).size).toBe(3);
    expect(decodeJwt(second.access_token)).toMatchObject({
      sub: user.id,
      aud: resource.indicator,
      client_id: application.id,
      scope: 'read write',
    });
  }
});

test('brings an ID token of the same sign-in each time', async () => {
  const { refreshToken, tokens, user } = await signInNewUser();
  const signedIn = decodeJwt(String(tokens.id_token));
  let last = refreshToken;
  for (const _time of [1, 2]) {
    service.clock.advance(3_600_000);
    const { id_token, refresh_token } = await refresh(service, client, last);
    last = refresh_token ?? '';
    const { sub, aud, iss, auth_time, exp = 0 } = decodeJwt(String(id_token));
    expect({ sub, aud, iss, auth_time }).toEqual({
      sub: user.id,
      aud: client.id,
      iss: signedIn.iss,
      auth_time: signedIn['auth_time'],
    });
    expect(exp).toBeGreaterThan(service.clock.now().getTime() / 1000);
  }
});

test('issues none without offline_access', async () => {
  const tokens = await fixture.signIn({ scope: 'openid read', ...forResource });
  expect(tokens.refresh_token).toBeUndefined();
});

test('revokes its family and their access tokens on reuse', async () => {
  const { refreshToken } = await signInNewUser();
  const { refresh_token: newest = '', access_token: accessToken } = await refresh(
    service,
    client,
    refreshToken,
    forResource,
  );
  const { refresh_token: last = '' } = await refresh(service, client, newest);
  expect(await errorOf(refresh(service, client, refreshToken))).toBe('invalid_grant');
  expect(await errorOf(refresh(service, client, last))).toBe('invalid_grant');
  const configuration = await discover(service, client);
  expect(await oidc.tokenIntrospection(configuration, accessToken)).toEqual({ active: false });
});

test('only one of several concurrent uses gets tokens where none may come again', async () => {
  const once = await fixture.createApplication({ refreshTokenReuseSeconds: 0 });
  const { refreshToken } = await signInNewUser({ client: once });
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => errorOf(refresh(service, once, refreshToken))),
  );
  expect(answers.sort()).toEqual([...Array<string>(4).fill('invalid_grant'), 'no error']);
});

test('counts the scopes that the user holds at that moment', async () => {
  const { user, refreshToken } = await signInNewUser({ scopes: ['read'] });
  const roles = await prisma.userRole.findMany({ where: { userId: user.id } });
  await prisma.userRole.deleteMany({ where: { userId: user.id } });
  const without = await refresh(service, client, refreshToken, forResource);
  expect(decodeJwt(without.access_token)['scope']).toBe('');

  await prisma.userRole.createMany({ data: roles });
  await directory.allowUser(user, resource, ['write']);
  const more = await refresh(service, client, without.refresh_token ?? '', forResource);
  expect(decodeJwt(more.access_token)['scope']).toBe('read write');
});

test('narrows the scopes on request, and never widens them', async () => {
  const { refreshToken } = await signInNewUser();
  const narrow = await refresh(service, client, refreshToken, {
    ...forResource,
    scope: 'openid write',
  });
  expect(narrow.scope).toBe('openid write');
  const wide = refresh(service, client, narrow.refresh_token ?? '', { scope: 'openid email' });
  expect(await errorOf(wide)).toBe('invalid_scope');
});

test('gives a token for the authorized resource by default', async () => {
  const { refreshToken } = await signInNewUser();
  const tokens = await refresh(service, client, refreshToken);
  expect(decodeJwt(tokens.access_token).aud).toBe(forResource.resource);
});

test('is useless to another application', async () => {
  const { refreshToken } = await signInNewUser();
  const other = await fixture.createApplication();
  expect(await errorOf(refresh(service, other, refreshToken))).toBe('invalid_grant');
  expect(await errorOf(refresh(service, client, refreshToken))).toBe('no error');
});

test.each([
  ['is suspended', (id: string) => updateUserSuspensionStatus(context, { id, isSuspended: true })],
  [
    'was suspended and let in again',
    async (id: string) => {
      await updateUserSuspensionStatus(context, { id, isSuspended: true });
      await updateUserSuspensionStatus(context, { id, isSuspended: false });
    },
  ],
  [
    'has a new password',
    (id: string) => updateUserPassword(context, { id, password: `${password}!` }),
  ],
  ['is deleted', (id: string) => prisma.user.delete({ where: { id } })],
  [
    // What a request under way stores again after the operation deleted it is older than the sign-out.
    'was signed out, where the records are still there',
    (id: string) =>
      prisma.user.update({
        where: { id },
        data: { tokensValidAfter: new Date(service.clock.now().getTime() + 60_000) },
      }),
  ],
])('is refused when the user %s', async (_case, change) => {
  const { user, refreshToken } = await signInNewUser();
  await change(user.id);
  expect(await errorOf(refresh(service, client, refreshToken))).toBe('invalid_grant');
});

test('survives lost redirect URIs, and ends with the application', async () => {
  const application = await fixture.createApplication();
  const { refreshToken } = await signInNewUser({ client: application });
  await prisma.application.update({ where: { id: application.id }, data: { redirectUris: [] } });
  const tokens = await refresh(service, application, refreshToken);
  await prisma.application.delete({ where: { id: application.id } });
  const response = await fetch(`${service.app.services.issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token ?? '',
      client_id: application.id,
      client_secret: application.secret,
    }),
  });
  expect(response.status).toBe(401);
});

test('expires', async () => {
  const { refreshToken } = await signInNewUser();
  service.clock.advance(14 * 24 * 60 * 60 * 1000 + 1000);
  expect(await errorOf(refresh(service, client, refreshToken))).toBe('invalid_grant');
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
