import { mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CommandError } from '../../src/cli/command.ts';
import { importExport } from '../../src/cli/import/command.ts';
import { callRest } from '../support/operations/rest.ts';
import { discover, openBrowser } from '../support/people/sign-in.ts';
import { authorize } from '../support/people/sign-in-fixture.ts';
import { runSignet } from '../support/process.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { prisma } = service.app.services.database;
const admin = { url: service.url, token: await service.managementToken() };
const folder = await mkdtemp(join(tmpdir(), 'signet-'));
const schema = await (await fetch(`${service.url}/api/configuration.schema.json`)).json();
const isDocument = new Ajv2020({ validateFormats: false, allowUnionTypes: true }).compile(schema);

const fixture = (path: string) =>
  fileURLToPath(new URL(`../fixtures/exports/${path}`, import.meta.url));

const { adminCredentials: credentials } = service.app;
if (!credentials) throw new Error('A fresh database gives new admin credentials.');
const environment = {
  SIGNET_URL: service.url,
  SIGNET_CLIENT_ID: credentials.id,
  SIGNET_CLIENT_SECRET: credentials.secret,
  EMAIL_PASSWORD: 'a password',
  COMPANY_CLIENT_SECRET: 'a secret',
  PARTNER_CLIENT_SECRET: 'a secret',
  FRIENDS_CLIENT_SECRET: 'a secret',
  LOGTO_COMPANY_CLIENT_SECRET: 'a secret',
  CRM_X_KEY: 'a key',
};
const signet = (...parameters: string[]) => runSignet(parameters, { environment });

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** Runs the command in this process, which is quicker than to start one. */
async function read(...parameters: string[]) {
  const texts = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof texts) =>
    ({
      write: (text: string) => {
        texts[name] += text;
        return true;
      },
    }) as unknown as NodeJS.WriteStream;
  const terminal = {
    environment: {},
    stdin: process.stdin,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
  };
  // What is thrown otherwise is a fault of the command.
  const code = await importExport.run(parameters, terminal).catch((error: Error) => {
    expect(error).toBeInstanceOf(CommandError);
    texts.stderr += error.message;
    return 1;
  });
  return { code, ...texts };
}

/** Reads an export, applies its document, and imports its users. */
async function bringOver(system: string, paths: readonly string[]) {
  const users = join(folder, `${system}.jsonl`);
  const exported = await read('--from', system, ...paths.map(fixture), '--users', users);
  expect(exported.code).toBe(0);
  const document = parse(exported.stdout);
  expect(isDocument(document), JSON.stringify(isDocument.errors)).toBe(true);
  const path = await file(`${system}.yaml`, exported.stdout);
  expect(await signet('apply', path, '--yes')).toMatchObject({ code: 0, stderr: '' });
  expect(await signet('plan', path)).toMatchObject({ code: 0, stderr: '' });
  const bodies = (await readFile(users, 'utf8')).trimEnd().split('\n');
  for (const body of bodies) {
    const { body: answer } = await callRest(admin, 'POST', '/users/import', JSON.parse(body));
    expect(answer.failures).toEqual([]);
  }
  expect((await stat(users)).mode & 0o777).toBe(0o600);
  expect(`${exported.stdout}${exported.stderr}${bodies}`).not.toMatch(/never-shown/);
  return { document, told: exported.stderr.trimEnd().split('\n') };
}

/** Signs in to an application with the password that all of the exports' users have. @returns The custom data. */
async function signsIn(username: string, application: string): Promise<unknown> {
  const client = await prisma.application.findFirstOrThrow({ where: { name: application } });
  const redirectUri = client.redirectUris[0] ?? '';
  const browser = openBrowser(service.app.services.baseUrl);
  const { url, verifier } = await authorize(service, client, { redirect_uri: redirectUri });
  const asked = await browser.open(url);
  let visit = await browser.submit(asked, {
    identifier: username,
    password: 'correct horse battery staple',
  });
  // A second factor is offered.
  if (visit.url.pathname.includes('/enroll')) visit = await browser.submit(visit, { skip: 'yes' });
  if (!visit.url.href.startsWith(redirectUri)) return undefined;
  const tokens = await oidc.authorizationCodeGrant(await discover(service, client), visit.url, {
    pkceCodeVerifier: verifier,
  });
  const where = { id: tokens.claims()?.sub ?? '' };
  return (await prisma.user.findUniqueOrThrow({ where })).customData;
}

/** Whether a user is suspended, and since when it is there. */
async function formerOf(name: string): Promise<[boolean, string]> {
  const { isSuspended, createdAt } = await prisma.user.findFirstOrThrow({
    where: { OR: [{ username: name }, { primaryEmail: name }] },
  });
  return [isSuspended, createdAt.toISOString()];
}

test('brings over what Auth0 exports: people sign in with their passwords', async () => {
  const { document, told } = await bringOver('auth0', [
    'auth0/tenant.yaml',
    'auth0/users.jsonl',
    'auth0/digests.jsonl',
  ]);
  expect(document.roles).toContainEqual({
    name: 'Order clerk',
    description: 'Works on orders.',
    scopes: { 'https://orders.auth0.example': ['orders:read'] },
  });
  expect(document.applications).toContainEqual({
    name: 'Order sync',
    type: 'MACHINE_TO_MACHINE',
    roles: ['Order sync (client grants)'],
  });
  expect(document.identityProviders).toEqual([
    expect.objectContaining({
      kind: 'ENTERPRISE',
      clientSecret: { env: 'COMPANY_CLIENT_SECRET' },
      emailDomains: ['company.example'],
    }),
  ]);
  expect(document.signInExperience).toMatchObject({
    passwordPolicy: { minLength: 12, blocklist: ['harbour'] },
    sessionPolicy: { maxSeconds: 604_800 },
    lockoutPolicy: { maxAttempts: 7 },
  });
  for (const line of [
    'tenant.yaml: resourceServers.2 (Legacy): is not taken: it has no indicator',
    'tenant.yaml: clients.1 (Harbour web): callbacks: https://*.preview.auth0.example/callback is a pattern, and Signet takes whole URIs',
    'tenant.yaml: clients.3 (Kiosk).callbacks.0: https://kiosk.auth0.example/##STAGE##/callback stands for a value that is not in the export',
    'users.jsonl: 5 (Nobody knows).created_at: must be a time, and is not taken',
    'users.jsonl: 3 (no spaces allowed): comes without a password: its digest is in no format that importUsers takes',
  ]) {
    expect(told).toContain(line);
  }
  expect(await signsIn('grace@auth0.example', 'Harbour web')).toEqual({
    theme: 'dark',
    plan: 'gold',
    formerId: 'auth0|60425dc43519d90068f82971',
  });
  expect(await formerOf('grace@auth0.example')).toEqual([false, '2021-03-05T16:35:16.775Z']);
  expect(await formerOf('blocked@auth0.example')).toEqual([true, '2022-04-06T17:35:16.000Z']);
});

test('brings over a realm of Keycloak: roles of clients are scopes, and each digest is taken', async () => {
  const { document, told } = await bringOver('keycloak', ['keycloak/realm.json']);
  const orders = 'urn:keycloak:harbour:orders';
  expect(document.resources).toEqual([expect.objectContaining({ indicator: orders })]);
  expect(document.roles).toEqual([
    { name: 'clerk', description: 'Works on orders.', scopes: { [orders]: ['read', 'write'] } },
    { name: 'reader', isDefault: true, scopes: { [orders]: ['write', 'read'] } },
    {
      name: 'order-sync (service account)',
      type: 'MACHINE_TO_MACHINE',
      scopes: { [orders]: ['write', 'read'] },
    },
  ]);
  expect(document.applications).toContainEqual({
    name: 'Harbour at Keycloak',
    description: 'harbour-web in Keycloak',
    type: 'SPA',
    redirectUris: ['https://web.keycloak.example/callback'],
    postLogoutRedirectUris: [
      'https://web.keycloak.example/bye',
      'https://web.keycloak.example/callback',
    ],
    corsAllowedOrigins: ['https://web.keycloak.example'],
  });
  for (const line of [
    'realm.json: clients.6 (intranet): is not taken: Signet has no saml',
    'realm.json: passwordPolicy: digits(1): Signet has no such rule',
    'realm.json: users.4 (custom): comes without a password: importUsers takes no digest of the algorithm vendor-hash',
    'users: realmRoles, of 2: importUsers has no such field',
  ]) {
    expect(told).toContain(line);
  }
  expect(await signsIn('argon', 'Harbour at Keycloak')).toMatchObject({ department: ['orders'] });
  for (const name of ['pbkdf@keycloak.example', 'old', 'written']) {
    expect(await signsIn(name, 'Harbour at Keycloak'), name).toBeDefined();
  }
  expect(await signsIn('custom', 'Harbour at Keycloak')).toBeUndefined();
  expect(await formerOf('argon')).toEqual([false, '2023-11-14T22:13:20.000Z']);
  expect(await formerOf('gone')).toEqual([true, '2023-11-14T22:13:21.000Z']);
});

test('brings over what the management API of Logto answers', async () => {
  const { document, told } = await bringOver('logto', ['logto/export.json', 'logto/users.json']);
  expect(document.organizationRoles).toEqual([
    expect.objectContaining({
      scopes: ['invite:member'],
      resourceScopes: { 'https://orders.logto.example': ['orders:read'] },
    }),
  ]);
  expect(document.webhooks).toEqual([
    {
      name: 'CRM',
      url: 'http://127.0.0.1:9/hook',
      enabled: true,
      events: ['USER_CREATED', 'POST_SIGN_IN'],
      headers: { 'X-Key': { env: 'CRM_X_KEY' } },
    },
  ]);
  expect(document.signInExperience).toMatchObject({
    signInIdentifiers: ['USERNAME', 'EMAIL'],
    factors: ['TOTP', 'BACKUP_CODES'],
    branding: { primaryColor: '#5d34f2' },
  });
  for (const line of [
    'export.json: hooks.1 (Nothing): is not taken: no event of it is left',
    'export.json: ssoConnectors.1 (Old company): is not taken: SAML has no OpenID Connect that Signet can use',
    'users.json: 3 (legacy): comes without a password: importUsers takes no digest of the algorithm Legacy',
  ]) {
    expect(told).toContain(line);
  }
  expect(await signsIn('linus@logto.example', 'Logto web')).toEqual({
    theme: 'dark',
    formerId: 'usr1',
  });
  for (const name of ['bcrypt', 'sha']) {
    expect(await signsIn(name, 'Logto web'), name).toBeDefined();
  }
  expect(await formerOf('linus')).toEqual([false, '2024-02-03T04:05:06.789Z']);
  expect(await formerOf('bcrypt')).toEqual([false, '2024-02-03T03:05:06.000Z']);
  expect(await formerOf('sha')).toEqual([false, '2024-02-03T04:05:06.000Z']);
  expect(await formerOf('suspended')).toEqual([true, '2024-02-03T04:05:06.789Z']);
});

test('reads the folder of a file for each record as it reads one file', async () => {
  const tenant = parse(await readFile(fixture('auth0/tenant.yaml'), 'utf8'));
  const root = join(folder, 'directory');
  const put = async (path: string, value: unknown) => {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), JSON.stringify(value));
  };
  await put('tenant.json', tenant.tenant);
  await put('emails/provider.json', tenant.emailProvider);
  await put('guardian/policies.json', tenant.guardianPolicies);
  await put(
    'attack-protection/brute-force-protection.json',
    tenant.attackProtection.bruteForceProtection,
  );
  await put('database-connections/users/database.json', tenant.databases[0]);
  const lists = {
    'resource-servers': tenant.resourceServers,
    roles: tenant.roles,
    clients: tenant.clients,
    grants: tenant.clientGrants,
    connections: tenant.connections,
    'guardian/factors': tenant.guardianFactors,
  };
  for (const [path, records] of Object.entries(lists)) {
    for (const [index, record] of (records as unknown[]).entries()) {
      await put(`${path}/${index}.json`, record);
    }
  }
  const ofFolder = await read('--from', 'auth0', root, '--json');
  const ofFile = await read('--from', 'auth0', fixture('auth0/tenant.yaml'), '--json');
  expect(JSON.parse(ofFolder.stdout)).toEqual(JSON.parse(ofFile.stdout));
});

describe('names the file that it cannot read,', () => {
  const bomb = ['a: &a0 [x, x]'];
  for (let level = 1; level < 30; level += 1) {
    bomb.push(`b${level}: &a${level} [*a${level - 1}, *a${level - 1}]`);
  }
  test.each<[string, string, string, string]>([
    ['no JSON', 'keycloak', 'a.json', '{ "realm": '],
    ['no realm', 'keycloak', 'b.json', '{ "clients": [] }'],
    ['two realms', 'keycloak', 'c.json', '[{ "realm": "one" }, { "realm": "two" }]'],
    ['no YAML', 'auth0', 'd.yaml', 'clients: [\n'],
    ['a YAML bomb', 'auth0', 'e.yaml', bomb.join('\n')],
    ['deep YAML', 'auth0', 'f.yaml', `a: ${'['.repeat(5_000)}`],
    ['deep JSON', 'logto', 'g.json', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['a broken line', 'auth0', 'h.jsonl', '{"user_id":"1"}\n{"user_id":\n'],
    ['a text', 'auth0', 'i.yaml', 'just text'],
    ['nothing', 'auth0', 'j.yaml', ''],
    ['large YAML', 'auth0', 'k.yaml', `a: ${'x'.repeat(9 * 2 ** 20)}`],
  ])('%s', async (_what, system, name, text) => {
    const path = await file(name, text);
    const run = await read('--from', system, path);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain(name);
  });

  test('a file that is not there', async () => {
    const run = await read('--from', 'auth0', join(folder, 'nowhere.yaml'));
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain('nowhere.yaml');
  });
});

test('takes what is right of hostile records, and tells the rest', async () => {
  const path = await file(
    'hostile.json',
    JSON.stringify({
      realm: 'x',
      clients: [null, 7, { clientId: { $ne: 1 } }, { clientId: 'web', redirectUris: 'none' }],
      roles: {
        realm: [{ name: '__proto__', composites: { realm: ['__proto__'] } }, []],
        client: 3,
      },
      users: [
        { username: ['a'] },
        { username: 'ada', credentials: [{ type: 'password', secretData: '{' }] },
      ],
      smtpServer: 'mail',
    }),
  );
  const users = join(folder, 'hostile.jsonl');
  const run = await read('--from', 'keycloak', path, '--users', users, '--json');
  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual({
    signet: 1,
    roles: [{ name: '__proto__' }],
    applications: [{ name: 'web', type: 'TRADITIONAL' }],
  });
  expect(JSON.parse(await readFile(users, 'utf8'))).toEqual({ users: [{ username: 'ada' }] });
  expect(run.stderr).toContain('hostile.json: clients.3 (web).redirectUris: must be a list');
  expect(run.stderr).toContain('hostile.json: clients.2.clientId: must be text');
});

test('requires no second factor where none is taken', async () => {
  const path = await file(
    'factors.yaml',
    'guardianFactors: [{ name: sms, enabled: true }]\nguardianPolicies: { policies: [all-applications] }\n',
  );
  const run = await read('--from', 'auth0', path, '--json');
  expect(JSON.parse(run.stdout)).toEqual({ signet: 1 });
  expect(run.stderr).toContain('factors.yaml: guardianPolicies: a second factor is not required');
});

test('writes at most a thousand users into each line', async () => {
  const lines = Array.from({ length: 2_001 }, (_, index) =>
    JSON.stringify({ user_id: `auth0|${index}`, username: `u${index}` }),
  );
  const path = await file('many.jsonl', lines.join('\n'));
  const users = join(folder, 'many-rows.jsonl');
  const run = await read('--from', 'auth0', path, '--users', users);
  expect(run).toMatchObject({ code: 0, stdout: 'signet: 1\n', stderr: '' });
  const bodies = (await readFile(users, 'utf8')).trimEnd().split('\n');
  expect(bodies.map((body) => JSON.parse(body).users.length)).toEqual([1_000, 1_000, 1]);
});

test('is a command of signet, which says how it is used', async () => {
  const run = await signet('import', '--from', 'okta', 'export.json');
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toContain(
    '--from must be one of auth0, keycloak, logto\nusage: signet import',
  );
});
