import { decodeJwt } from 'jose';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { createPersonalAccessToken } from '../../../src/subject-tokens/personal-access-token.ts';
import { createSubjectToken } from '../../../src/subject-tokens/subject-token.ts';
import { basic } from '../../support/client-credentials.ts';
import { createTestDatabase } from '../../support/database.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { createTestClock } from '../../support/service.ts';
import { observeStatements } from '../../support/statements.ts';
import {
  accessTokenType,
  exchangeGrantType,
  formOf,
  postToken,
  strangerId,
  userToken,
} from '../../support/tokens.ts';

const testDatabase = await createTestDatabase();
const observed = await observeStatements(testDatabase);
const clock = createTestClock();
const app = await startApp({
  // The proxy in front names the client's address: an address that fails a hundred times is shut out.
  config: readConfig({ PORT: '0', TRUST_PROXY: '1' }),
  log: pino({ level: 'silent' }),
  clock,
  opened: { database: observed.database, secret: 'a secret for tests only' },
});
afterAll(async () => {
  await app.stop();
  await observed.close();
  await testDatabase.close();
});

const service = { app, clock, url: app.url };
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
  return `192.0.2.${addresses}`;
}

/**
 * How many statements one request costs: the least of eight, since what runs by the clock in the background may
 * send some of its own meanwhile, and what the request sends it sends each time.
 */
async function costOf(request: () => Promise<{ status: number }>, status: number) {
  const costs: number[] = [];
  for (let i = 0; i < 8; i += 1) {
    const before = observed.executed.length;
    expect((await request()).status).toBe(status);
    costs.push(observed.executed.length - before);
  }
  return Math.min(...costs);
}

test("sees the statements of both of the service's pools", async () => {
  const before = observed.executed.length;
  await app.services.database.prisma.user.count();
  await app.services.database.tokens.query('seen', 'SELECT 1 AS "seen"', []);
  const seen = observed.executed.slice(before);
  expect(seen.some((text) => text.includes('"User"'))).toBe(true);
  expect(seen).toContain('SELECT 1 AS "seen"');
});

test.each<[string, Record<string, string>, string | undefined, number]>([
  ['an exchange', {}, credentials, 200],
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
      postToken(
        service,
        formOf({ ...parameters, ...changes }),
        authorization ? { authorization } : {},
      );
    // The failure is counted against the client's address.
    expect(await costOf(request, status)).toBe(status === 401 ? 2 : 1);
  },
);

describe('an opaque subject token', async () => {
  const type = (name: string) => `urn:signet:params:oauth:token-type:${name}`;
  const context = {
    ...app.services,
    actor: { type: 'APPLICATION', id: backend.id },
    traceId: 'a test',
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
    const tokens = await Promise.all(
      Array.from({ length: 8 }, () =>
        createSubjectToken(context, { userId: user.id, reason: 'A test' }),
      ),
    );
    const next = () => ask(String(tokens.pop()?.token), type('subject_token'));
    expect(await costOf(next, 200)).toBe(3);
  });

  test('of a person costs two statements', async () => {
    const { token } = await createPersonalAccessToken(context, {
      userId: user.id,
      name: 'A token',
      expiresAt: new Date(clock.now().getTime() + 60_000),
    });
    expect(await costOf(() => ask(token, type('personal_access_token')), 200)).toBe(2);
  });

  test.each(['subject_token', 'personal_access_token'])(
    'that is none costs two statements as %s',
    async (name) => {
      expect(await costOf(() => ask('x', type(name)), 400)).toBe(2);
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
  expect(await costOf(request, 200)).toBe(1);
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
    expect(await costOf(request, 401)).toBe(2);
  });
});

test('concurrent requests share statements and get their own answers', async () => {
  const people = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const person = await directory.createUser();
      const scope = `scope${i}`;
      const resource = await directory.createResource([scope], { accessTokenTtlSeconds: 100 + i });
      // Each fifth holds nothing.
      if (i % 5 > 0) await directory.allowUser(person, resource, [scope]);
      const token = await userToken(service, person.id, frontend);
      return { person, scope, resource, token, i };
    }),
  );
  const before = observed.executed.length;
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
  const statements = observed.executed
    .slice(before)
    .filter((text) => text.includes('FROM unnest($2'));
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
  expect(await costOf(request, 400)).toBe(0);
});
