import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { createPersonalAccessToken } from '../../../src/subject-tokens/personal-access-token.ts';
import { createSubjectToken } from '../../../src/subject-tokens/subject-token.ts';
import { basic } from '../../support/client-credentials.ts';
import { testCall } from '../../support/log.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { startService } from '../../support/service.ts';
import {
  accessTokenType,
  exchangeGrantType,
  formOf,
  postToken,
  strangerId,
  userToken,
} from '../../support/tokens.ts';
import { eventually } from '../../support/wait.ts';

// The proxy in front names the client's address: an address that fails a hundred times is shut out.
const service = await startService({ TRUST_PROXY: '1' }, { isObserved: true });
const { app, clock, executed, testDatabase } = service;
const directory = seedDirectory(app.services.database, clock);
const frontend = await directory.createClient({ type: 'SPA' });
const backend = await directory.createClient({ allowTokenExchange: true });
const switchedOff = await directory.createClient();
const orders = await directory.createResource(['read']);
const organization = await directory.createOrganization();
const user = await directory.createUser();
await directory.allowUser(user, orders, ['read']);
await directory.addMember(organization, user, { resource: orders, resourceScopes: ['read'] });

const strangerApplication = 'app_01h455vb4pex5vsknk084sn02q';
const credentials = basic(backend.id, backend.secret);
const parameters = {
  grant_type: exchangeGrantType,
  subject_token: await userToken(service, user.id, frontend),
  subject_token_type: accessTokenType,
  resource: orders.indicator,
  scope: 'read',
};
const organizationIndicator = `urn:signet:organization:${organization.id}`;

let addresses = 0;
function newAddress(): string {
  addresses += 1;
  return `198.18.${addresses >> 8}.${addresses & 255}`;
}

/**
 * Expects that a request costs so many statements. The least of eight or more counts: what runs by the clock may send
 * some of its own meanwhile, and what the request sends it sends each time.
 */
async function expectCost(
  statements: number,
  status: number,
  request: () => Promise<{ status: number }>,
) {
  let [least, requests] = [Number.POSITIVE_INFINITY, 0];
  await eventually(async () => {
    const before = executed.length;
    expect((await request()).status).toBe(status);
    least = Math.min(least, executed.length - before);
    requests += 1;
    expect(requests).toBeGreaterThanOrEqual(8);
    expect(least).toBeLessThanOrEqual(statements);
  });
  expect(least).toBe(statements);
}

test("sees the statements of both of the service's pools", async () => {
  const before = executed.length;
  await app.services.database.prisma.user.count();
  await app.services.database.tokens.query('seen', 'SELECT 1 AS "seen"', []);
  const seen = executed.slice(before);
  expect(seen.some((text) => text.includes('"User"'))).toBe(true);
  expect(seen).toContain('SELECT 1 AS "seen"');
});

test.each<[string, Record<string, string>, string | undefined, number]>([
  ['an exchange', {}, credentials, 200],
  [
    'an exchange for another spelling of a resource',
    { resource: orders.indicator.replace('https:', 'HTTPS:') },
    credentials,
    200,
  ],
  ['an exchange in an organization', { organization_id: organization.id }, credentials, 200],
  ['an exchange for an organization', { resource: organizationIndicator }, credentials, 200],
  ['no credentials', {}, undefined, 401],
  ['credentials that cannot be read', {}, 'Basic ?', 401],
  ['an unknown client', {}, basic(strangerApplication, 'x'), 401],
  ['an id that is none', {}, basic('x', 'x'), 401],
  ['a wrong secret', {}, basic(backend.id, 'x'), 401],
  ['an application that may not', {}, basic(switchedOff.id, switchedOff.secret), 400],
  ['a token type that is not supported', { subject_token_type: 'x' }, credentials, 400],
  ['a subject token that is none', { subject_token: 'x' }, credentials, 400],
  [
    'a subject token that was changed',
    { subject_token: `${parameters.subject_token}x` },
    credentials,
    400,
  ],
  [
    'a subject token of no one',
    { subject_token: await userToken(service, strangerId(), frontend) },
    credentials,
    400,
  ],
  ['an unknown resource', { resource: 'https://unknown.example.com' }, credentials, 400],
  [
    'an organization of others',
    { organization_id: 'org_01h455vb4pex5vsknk084sn02q' },
    credentials,
    400,
  ],
  ['a scope against the grammar', { scope: '"' }, credentials, 400],
])(
  '%s costs one statement, and a client unproved one more',
  async (_what, changes, authorization, status) => {
    const request = () =>
      postToken(service, formOf({ ...parameters, ...changes }), {
        'x-forwarded-for': newAddress(),
        ...(authorization && { authorization }),
      });
    // The failure is counted against the client's address.
    await expectCost(status === 401 ? 2 : 1, status, request);
  },
);

describe('an opaque subject token', async () => {
  const type = (name: string) => `urn:signet:params:oauth:token-type:${name}`;
  const context = {
    ...app.services,
    actor: { type: 'APPLICATION', id: backend.id },
    ...testCall,
  } as const;
  const client = await directory.createClient({
    allowTokenExchange: true,
    allowImpersonation: true,
    allowPersonalAccessTokens: true,
  });
  const ask = (subject_token: string, subject_token_type: string) =>
    postToken(service, formOf({ ...parameters, subject_token, subject_token_type }), {
      authorization: basic(client.id, client.secret),
    });

  test('of an agent costs three statements, its use among them', async () => {
    // Each is used up by one request. Made before, because what tells of their events is at work for a while.
    const tokens = await Promise.all(
      Array.from({ length: 40 }, () =>
        createSubjectToken(context, { userId: user.id, reason: 'A test' }),
      ),
    );
    await expectCost(3, 200, () => ask(String(tokens.pop()?.token), type('subject_token')));
  });

  test('of a person costs two statements', async () => {
    const { token } = await createPersonalAccessToken(context, {
      userId: user.id,
      name: 'A token',
      expiresAt: new Date(clock.now().getTime() + 60_000),
    });
    await expectCost(2, 200, () => ask(token, type('personal_access_token')));
  });

  test.each(['subject_token', 'personal_access_token'])(
    'that is none costs two statements as %s',
    async (name) => {
      await expectCost(2, 400, () => ask('x', type(name)));
    },
  );
});

test('client credentials cost one statement', async () => {
  const form = formOf({
    grant_type: 'client_credentials',
    resource: orders.indicator,
    scope: 'read',
  });
  const request = () => postToken(service, form, { authorization: credentials });
  await expectCost(1, 200, request);
});

describe.each([
  ['a refresh token', 'token', { grant_type: 'refresh_token', refresh_token: 'x' }],
  ['a code', 'token', { grant_type: 'authorization_code', code: 'x' }],
  ['introspection of a JWT', 'token/introspection', { token: parameters.subject_token }],
  ['introspection', 'token/introspection', { token: 'x' }],
  ['revocation of a JWT', 'token/revocation', { token: parameters.subject_token }],
  ['revocation', 'token/revocation', { token: 'x' }],
])('%s', (_what, path, form) => {
  test.each([
    ['an unknown client', basic(strangerApplication, 'x')],
    ['an id that is none', basic('x', 'x')],
    ['a wrong secret', basic(backend.id, 'x')],
    ['a secret where the application keeps none', basic(frontend.id, 'x')],
    ['credentials that cannot be read', 'Basic ?'],
  ])('costs two statements for %s', async (_who, authorization) => {
    const request = () =>
      fetch(`${service.url}/oidc/${path}`, {
        method: 'POST',
        headers: { authorization, 'x-forwarded-for': newAddress() },
        body: formOf(form),
      });
    // The failure is counted against the client's address.
    await expectCost(2, 401, request);
  });
});

test('concurrent requests share statements and get their own answers', async () => {
  const people = [];
  // One after another: however slow the machine is, none waits long for a connection.
  for (let i = 0; i < 60; i += 1) {
    const person = await directory.createUser();
    const scope = `scope${i}`;
    const resource = await directory.createResource([scope], { accessTokenTtlSeconds: 100 + i });
    // Each fifth holds nothing.
    if (i % 5 > 0) await directory.allowUser(person, resource, [scope]);
    people.push({
      person,
      scope,
      resource,
      token: await userToken(service, person.id, frontend),
      i,
    });
  }
  const before = executed.length;
  const answers = await Promise.all(
    people.map(({ resource, scope, token, i }) =>
      postToken(
        service,
        formOf({
          ...parameters,
          subject_token: token,
          resource: i % 7 === 3 ? `${resource.indicator}"\\,{}NULL` : resource.indicator,
          scope: `${scope} scope${i + 1}`,
        }),
        { authorization: i % 7 === 5 ? basic(backend.id, 'wrong') : credentials },
      ),
    ),
  );
  const statements = executed.slice(before).filter((text) => text.includes('AS q(client,'));
  expect(statements.length).toBeGreaterThan(0);
  // The embedded database answers within the turn of each request, so none waits for another to share with.
  if (testDatabase.url) expect(statements.length).toBeLessThan(people.length);
  for (const { person, scope, resource, i } of people) {
    const answer = answers[i];
    if (i % 7 === 3)
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    else if (i % 7 === 5) expect(answer).toMatchObject({ status: 401 });
    else {
      expect(answer).toMatchObject({
        status: 200,
        body: { scope: i % 5 > 0 ? scope : '', expires_in: 100 + i },
      });
      expect(decodeJwt(answer?.body['access_token'] as string)).toMatchObject({
        sub: person.id,
        aud: resource.indicator,
      });
    }
  }
});

test('a malformed form costs none', async () => {
  const request = () => postToken(service, 'grant_type=x&grant_type=x');
  await expectCost(0, 400, request);
});
