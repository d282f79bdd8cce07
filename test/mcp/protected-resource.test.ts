import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { managementIndicator, managementScopes } from '../../src/auth/scopes.ts';
import { signInByMcp } from '../support/mcp/sign-in.ts';
import { createSignInFixture } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService({ MCP: 'true' });
const { baseUrl, issuer } = service.app.services;
const fixture = await createSignInFixture(service);

const metadataUrl = (path: string) => `${baseUrl}/.well-known/oauth-protected-resource${path}`;
const challengeOf = (response: Response) => response.headers.get('www-authenticate');
const send = (path: string, body: unknown, token?: string, headers = {}) =>
  fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify(body),
  });

test.each(['/graphql', '/api', '/mcp'])('%s describes itself', async (path) => {
  const response = await fetch(metadataUrl(path));
  expect(await response.json()).toEqual({
    resource: `${baseUrl}${path}`,
    authorization_servers: [issuer],
    scopes_supported: [...managementScopes.keys()],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256'],
    resource_name: 'Signet management API',
  });
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
});

describe('a challenge', () => {
  const asked = { query: '{ users { totalCount } }' };
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const ways = [
    ['/graphql', (token?: string) => send('/graphql', asked, token)],
    ['/api', (token?: string) => send('/api/users', {}, token)],
    ['/mcp', (token?: string) => send('/mcp', ping, token)],
  ] as const;

  test.each(ways)('of %s tells a stranger where the description is', async (path, ask) => {
    const response = await ask();
    expect(response.status).toBe(401);
    expect(challengeOf(response)).toBe(`Bearer resource_metadata="${metadataUrl(path)}"`);
  });

  test.each(ways)('of %s says that a token is refused', async (path, ask) => {
    const response = await ask('nonsense');
    expect(response.status).toBe(401);
    expect(challengeOf(response)).toBe(
      `Bearer resource_metadata="${metadataUrl(path)}", error="invalid_token"`,
    );
  });

  test.each(ways.slice(0, 2))('of %s names the missing scope', async (path, ask) => {
    const response = await ask(await service.managementToken('roles:read'));
    expect(response.status).toBe(403);
    expect(challengeOf(response)).toMatch(
      new RegExp(
        `^Bearer resource_metadata="${metadataUrl(path)}", error="insufficient_scope", scope="users:(read|write)"$`,
      ),
    );
  });

  test('may be read by pages of other origins', async () => {
    for (const path of ['/graphql', '/api/users']) {
      const { headers } = await send(path, {}, undefined, { origin: 'https://app.example.com' });
      expect(headers.get('access-control-expose-headers'), path).toContain('WWW-Authenticate');
    }
  });
});

test.each([
  ['that does not parse', { query: '{ users {' }],
  ['with a field that does not exist', { query: '{ secretField }' }],
  ['that is too long', { query: `# ${'x'.repeat(2 ** 16)}` }],
  ['with variables that do not fit', { query: 'query ($id: ID!) { user(id: $id) { id } }' }],
  ['with no operation of the name', { query: '{ __typename }', operationName: 'Other' }],
])('a stranger learns nothing of a document %s', async (_, body) => {
  for (const accept of ['application/json', 'application/graphql-response+json']) {
    const response = await send('/graphql', body, undefined, { accept });
    expect(response.status).toBe(401);
    expect(challengeOf(response)).toContain('resource_metadata=');
    const { errors } = (await response.json()) as { errors: unknown[] };
    expect(errors).toEqual([
      { message: 'An access token is required.', extensions: { code: 'UNAUTHENTICATED' } },
    ]);
  }
  expect((await send('/graphql', body, await service.managementToken())).status).not.toBe(401);
});

test.each(['/graphql', '/api', '/mcp'])(
  'a client of MCP that knows %s and its client id signs in',
  async (path) => {
    const { id } = await fixture.createApplication({ type: 'SPA' });
    const { tokens, asked } = await signInByMcp(service, {
      serverUrl: `${baseUrl}${path}`,
      information: { client_id: id },
      scope: 'users:read',
      username: 'Ada',
    });
    expect(asked.searchParams.get('resource')).toBe(`${baseUrl}${path}`);
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      aud: managementIndicator,
      client_id: id,
    });
    const response = await send('/graphql', { query: '{ __typename }' }, tokens.access_token);
    expect(response.status).toBe(200);
  },
);
