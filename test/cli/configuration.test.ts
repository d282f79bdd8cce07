import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createFingerprint } from '../support/operations/fingerprint.ts';
import { runSignet } from '../support/process.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const folder = await mkdtemp(join(tmpdir(), 'signet-'));
const { prisma } = service.app.services.database;
const { adminCredentials: credentials } = service.app;
if (!credentials) throw new Error('A fresh database gives new admin credentials.');
const environment = {
  SIGNET_URL: service.url,
  SIGNET_CLIENT_ID: credentials.id,
  SIGNET_CLIENT_SECRET: credentials.secret,
};

const signet = (
  parameters: readonly string[],
  options: { input?: string; env?: Record<string, string> } = {},
) =>
  runSignet(parameters, {
    environment: { ...environment, ...options.env },
    ...(options.input === undefined ? {} : { input: options.input }),
  });

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const document = `signet: 1
resources:
  - indicator: https://orders.example.com
    name: Orders
    scopes: [{ name: 'orders:read' }]
roles:
  - name: Clerk
    scopes: { https://orders.example.com: ['orders:read'] }
identityProviders:
  - name: Company
    kind: SOCIAL
    issuer: http://127.0.0.1:9
    clientId: signet
    clientSecret: { env: COMPANY_SECRET }
`;

test('plans, asks, applies, and then finds nothing to do', async () => {
  const path = await file('signet.yaml', document);
  const fingerprint = await createFingerprint(prisma);
  const before = await fingerprint();
  const planned = await signet(['plan', path]);
  expect(planned).toMatchObject({
    code: 2,
    stderr:
      'Warning: The identity provider Company has no client secret: COMPANY_SECRET has no value.\n',
  });
  expect(planned.stdout).toContain('  + role "Clerk"\n');
  expect(planned.stdout).toContain('Plan: 4 to create, 0 to change, 0 to delete.\n');
  const unasked = await signet(['apply', path]);
  expect(unasked).toMatchObject({ code: 1 });
  expect(unasked.stderr).toContain('nothing is written');
  expect(await fingerprint()).toEqual(before);

  const env = { COMPANY_SECRET: 'hidden-secret' };
  const applied = await signet(['apply', path, '--yes'], { env });
  expect(applied).toMatchObject({ code: 0, stderr: '' });
  expect(applied.stdout).not.toContain('hidden');
  expect(applied.stdout).toMatch(/Applied\.\n$/);
  expect(await signet(['plan', path], { env })).toMatchObject({
    code: 0,
    stdout: 'No changes. The service is as the document wants it.\n',
  });

  const exported = await signet(['export']);
  expect(parse(exported.stdout).roles).toEqual([expect.objectContaining({ name: 'Clerk' })]);
  expect(await signet(['diff', '-'], { input: exported.stdout })).toMatchObject({
    code: 0,
    stdout: '',
  });
});

test('shows the plan as a diff, and for programs', async () => {
  const path = await file(
    'other.yaml',
    'signet: 1\nroles: [{ name: Clerk, description: "Sells\\u001b[31m" }]\nresources: []\n',
  );
  const kinds = ['--prune', 'resource', '--prune', 'identity-provider'];
  const shown = await signet(['diff', path, ...kinds]);
  expect(shown).toMatchObject({ code: 2, stderr: '' });
  expect(shown.stdout).toContain(`--- service
+++ ${path}
@@ -1,4 +1,3 @@ role "Clerk"
-description: null
-scopes:
-  https://orders.example.com:
-    - orders:read
+description: "Sells\\e[31m"
+scopes:
+  https://orders.example.com: null
@@ -5,4 +3,0 @@ resource "https://orders.example.com"
-accessTokenTtlSeconds: 3600
-indicator: https://orders.example.com
-name: Orders
-signingAlg: null
`);
  const { stdout } = await signet(['plan', path, ...kinds, '--json']);
  expect(JSON.parse(stdout).changes.map(({ action }: { action: string }) => action)).toContain(
    'DELETE',
  );
});

describe('says what is wrong, and writes nothing,', () => {
  test.each<[string, string, string]>([
    ['of YAML', 'signet: [\n', ':2:1: '],
    [
      'with its line',
      'signet: 1\nroles:\n  - name: Clerk\n    type: GOD\n',
      ':4:5: roles.0.type: ',
    ],
    [
      'of a field',
      'signet: 1\nroles:\n  - name: Clerk\n    colour: red\n',
      ':4:5: roles.0.colour: ',
    ],
  ])('%s', async (_what, text, told) => {
    const path = await file('faulty.yaml', text);
    const run = await signet(['apply', path, '--yes']);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain(`${path}${told}`);
  });

  test.each<[string, Record<string, string>, string]>([
    ['of a service that is none', { SIGNET_URL: 'http://127.0.0.1:9' }, 'cannot be reached'],
    ['of a wrong secret', { SIGNET_CLIENT_SECRET: 'wrong' }, 'gives no token'],
    ['of a variable', { SIGNET_CLIENT_ID: '' }, 'SIGNET_CLIENT_ID is not set'],
  ])('%s', async (_what, env, told) => {
    const run = await signet(['export'], { env });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain(told);
    expect(run.stderr).not.toContain(credentials.secret);
  });
});
