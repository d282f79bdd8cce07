import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { hashPassword } from '../../src/users/password.ts';
import { seedDirectory } from '../support/directory.ts';
import { startService } from '../support/service.ts';
import { signIn } from '../support/sign-in.ts';

const service = await startService();
const { database, issuer } = service.app.services;
const directory = seedDirectory(database, service.clock);

const redirectUri = 'https://app.example.com/callback';
const password = 'correct horse battery staple';
const user = await directory.createUser({
  username: 'Ada',
  primaryEmail: 'Ada@example.com',
  name: 'Ada Lovelace',
  passwordDigest: await hashPassword(password),
  passwordAlgorithm: 'Argon2id',
});
const client = await directory.createClient({ type: 'TRADITIONAL', redirectUris: [redirectUri] });
const resource = await directory.createResource(['read', 'write']);
await directory.allowUser(user, resource, ['read']);

test('issues an access token for a resource, with the scopes that the user holds there', async () => {
  const tokens = await signIn(service, {
    client,
    redirectUri,
    username: 'ada',
    password,
    resource: resource.indicator,
    scope: 'openid offline_access read write',
  });
  const jwks = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const { payload, protectedHeader } = await jwtVerify(tokens.access_token, jwks, {
    issuer,
    audience: resource.indicator,
    typ: 'at+jwt',
  });
  expect(protectedHeader.alg).toBe('ES256');
  expect(payload).toMatchObject({ sub: user.id, client_id: client.id, scope: 'read' });
  expect(tokens.scope).toBe('read');
  expect(tokens.refresh_token).toBeTypeOf('string');
  expect(tokens.claims()?.sub).toBe(user.id);
});
