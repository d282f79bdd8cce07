import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPage } from '../../scripts/documents/blocks.ts';
import type { Resource } from '../../src/generated/prisma/client.ts';
import { systemActor } from '../../src/services.ts';
import { rotateSigningKey } from '../../src/signing-keys/operations.ts';
import { startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { areInstalled, filesOf, versionOf } from './example-process.ts';
import { askAsStrangers, type Habit, strangers } from './key-fetches.ts';
import { filesOfLanguages, type Program, recipes } from './languages.ts';
import { tableOf } from './printed-table.ts';
import { foldersOfServers, type Setting, type Started } from './servers/program.ts';
import { servers } from './servers/servers.ts';
import { createIssuer, scope } from './tokens.ts';
import { python, startVerifier, versionOfPyJwt } from './verifier-process.ts';

// The order is that of the table in docs/checking-tokens.md.
const algorithms = ['ES256', 'ES384', 'EdDSA', 'PS256', 'RS256'] as const;
const allButEdDsa = ['ES256', 'ES384', 'PS256', 'RS256'];

/** The package that each file is about, and which algorithms it takes as it stands there. */
const ofPackages: Record<string, [name: string, taken: readonly string[]]> = {
  'jose.js': ['jose', algorithms],
  'express-oauth2-jwt-bearer.js': ['express-oauth2-jwt-bearer', algorithms],
  'express-jwt.js': ['express-jwt', allButEdDsa],
  'passport-jwt.js': ['passport-jwt', allButEdDsa],
  'koa-jwt.js': ['koa-jwt', allButEdDsa],
  'aws-jwt-verify.js': ['aws-jwt-verify', ['ES256', 'ES384', 'EdDSA', 'RS256']],
  'hono.js': ['hono', algorithms],
  'fast-jwt.js': ['fast-jwt', algorithms],
  'fastify-jwt.js': ['@fastify/jwt', algorithms],
  'graphql-yoga.js': ['@graphql-yoga/plugin-jwt', allButEdDsa],
  'hapi.js': ['@hapi/jwt', algorithms],
  'okta-jwt-verifier.js': ['@okta/jwt-verifier', ['RS256']],
};

interface Verifier {
  readonly name: string;
  readonly version: string;
  readonly taken: readonly string[];
  readonly habit?: Habit;
  /** What it answers otherwise than is due. */
  readonly otherwise?: Readonly<Record<string, number>>;
  start(setting: Setting): Promise<Started>;
}

/** An example that is a program by itself. */
const startFile = (path: string, program?: Program) => async (setting: Setting) => ({
  ask: await startVerifier(path, { ...setting }, program),
});

const verifiers: Verifier[] = [
  ...(areInstalled('verifiers')
    ? Object.entries(ofPackages).map(([file, [name, taken]]) => ({
        name,
        version: versionOf('verifiers', name),
        taken,
        start: startFile(`verifiers/${file}`),
      }))
    : []),
  ...(python
    ? [
        {
          name: 'PyJWT',
          version: versionOfPyJwt(),
          taken: ['ES256'],
          habit: 'fetches for each' as const,
          start: startFile('service_b.py'),
        },
      ]
    : []),
  ...recipes.flatMap(({ path, program, ...recipe }) =>
    program ? [{ ...recipe, version: program.version, start: startFile(path, program) }] : [],
  ),
  ...servers.filter(({ missing }) => !missing),
];

// A key that is new signs at once, as after a leak: verifiers have to find it.
const service = await startService({ SIGNING_KEY_LEAD_SECONDS: '0' });
const { services } = service.app;
const rotate = () =>
  rotateSigningKey({ ...services, actor: systemActor, traceId: '', ip: null, userAgent: null }, {});

/** What each answered, and what it had to. */
const answers = new Map<Verifier, Record<string, { seen: number; due: number }>>();
/** How often each fetched the key set for strangers' tokens. */
const fetches = new Map<Verifier, number>();

beforeAll(async () => {
  const issuer = await createIssuer(service);
  const orders = await issuer.createApi({ indicator: 'https://orders.example.com' });
  const ofRsa = await issuer.createApi({
    indicator: 'https://rsa.example.com',
    signingAlg: 'RS256',
  });
  const ofAlgorithms = await Promise.all(
    algorithms.map((signingAlg) => issuer.createApi({ signingAlg })),
  );
  // This makes the keys of all these algorithms.
  await rotate();
  await services.keys.reload();
  const apiOf = ({ taken }: Verifier): [api: Resource, other: Resource] =>
    taken.includes('ES256') ? [orders, ofRsa] : [ofRsa, orders];

  const asks = await allOf(
    verifiers.map(async (verifier) => {
      const [api, other] = apiOf(verifier);
      const { ask, renewKeys } = await verifier.start({
        ISSUER: services.issuer,
        API: api.indicator,
        SCOPE: scope,
        CLIENT_ID: issuer.backend.id,
        CLIENT_SECRET: issuer.backend.secret,
      });
      const dueOf = (name: string, usual: number) => verifier.otherwise?.[name] ?? usual;
      const row: Record<string, { seen: number; due: number }> = {};
      answers.set(verifier, row);
      for (const [name, [token, due]] of Object.entries(await issuer.tokensFor(api, other))) {
        row[name] = { seen: await ask(token), due: dueOf(name, due) };
      }
      for (const [index, algorithm] of algorithms.entries()) {
        const token = await issuer.issueAsFor(api, ofAlgorithms[index] ?? api);
        if (decodeProtectedHeader(token).alg !== algorithm) throw new Error(`No ${algorithm}.`);
        row[algorithm] = {
          seen: await ask(token),
          due: dueOf(algorithm, verifier.taken.includes(algorithm) ? 200 : 401),
        };
      }
      return { ask, renewKeys, api, row, old: await issuer.issue(api) };
    }),
  );

  await rotate();
  await services.keys.reload();
  await Promise.all(
    asks.map(async ({ ask, renewKeys, api, row, old }) => {
      const token = await issuer.issue(api);
      if (decodeProtectedHeader(token).kid === decodeProtectedHeader(old).kid) {
        throw new Error('The key is the one of before.');
      }
      await renewKeys?.();
      row['old key'] = { seen: await ask(old), due: 200 };
      const untilDue = (asked: string, due: number) =>
        eventually(async () => {
          const status = await ask(asked);
          expect(status).toBe(due);
          return status;
        }, 500).catch(() => ask(asked));
      row['new key'] = { seen: await untilDue(token, 200), due: 200 };
      // Some remember what they have once taken.
      const ending = await issuer.issueEnding(api);
      await ask(ending);
      row['its end'] = { seen: await untilDue(ending, 401), due: 401 };
    }),
  );

  // One after the other, so that whatever is fetched is for the one that is asked.
  for (const [index, verifier] of verifiers.entries()) {
    const { ask, old } = asks[index] ?? {};
    if (!verifier.habit || !ask || !old) continue;
    fetches.set(verifier, await askAsStrangers(ask, old));
  }
});

afterAll(() => {
  const lines = verifiers.map((verifier) => ({
    what: verifier.name,
    version: verifier.version,
    ...Object.fromEntries(
      Object.entries(answers.get(verifier) ?? {}).map(([name, { seen, due }]) => [
        name,
        seen === due ? String(seen) : `${seen}, not ${due}`,
      ]),
    ),
  }));
  process.stdout.write(tableOf(lines));
  const leftOut = [
    ...recipes.filter(({ program }) => !program).map(({ name }) => name),
    ...servers.flatMap(({ name, missing }) => (missing ? [`${name} (${missing})`] : [])),
  ];
  if (leftOut.length > 0) process.stdout.write(`Not installed, left out: ${leftOut.join(', ')}\n`);
});

describe.skipIf(verifiers.length === 0)(
  'a token is checked as docs/checking-tokens.md says',
  () => {
    test.for(verifiers)('with $name $version', (verifier) => {
      const row = Object.entries(answers.get(verifier) ?? {});
      expect(row).toHaveLength(19);
      expect(Object.fromEntries(row.map(([name, { seen }]) => [name, seen]))).toEqual(
        Object.fromEntries(row.map(([name, { due }]) => [name, due])),
      );
    });
  },
);

test.for(verifiers.filter(({ habit }) => habit))(
  'for tokens with unknown keys $name $habit, as docs/checking-tokens.md says',
  (verifier) => {
    const seen = fetches.get(verifier);
    if (verifier.habit === 'fetches for each') expect(seen).toBe(strangers);
    else expect(seen).toBeLessThan(strangers);
  },
);

test('each file of examples/verifiers is tried', () => {
  expect(Object.keys(ofPackages).toSorted()).toEqual(filesOf('verifiers'));
  expect(recipes.map(({ path }) => path).toSorted()).toEqual(filesOfLanguages());
  expect([...new Set(servers.map(({ folder }) => folder))].toSorted()).toEqual(foldersOfServers());
});

test.for(servers)('the page says which algorithms $name takes', ({ name, taken }) => {
  const cells = algorithms.map((algorithm) => (taken.includes(algorithm) ? 'yes' : 'no'));
  expect(readPage('docs/checking-tokens.md').split('\n')).toContain(
    `| ${name} | ${cells.join(' | ')} |`,
  );
});

/** Waits for the end of each, so that what fails leaves no other on its way. */
async function allOf<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
