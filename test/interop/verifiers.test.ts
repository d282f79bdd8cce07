import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Resource } from '../../src/generated/prisma/client.ts';
import { systemActor } from '../../src/services.ts';
import { rotateSigningKey } from '../../src/signing-keys/operations.ts';
import { startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { createIssuer, scope } from './tokens.ts';
import {
  areInstalled,
  filesOfVerifiers,
  python,
  startVerifier,
  versionOf,
  versionOfPyJwt,
} from './verifier-process.ts';

const ofPackages: Record<string, string> = {
  'jose.js': 'jose',
  'express-oauth2-jwt-bearer.js': 'express-oauth2-jwt-bearer',
  'express-jwt.js': 'express-jwt',
  'passport-jwt.js': 'passport-jwt',
  'koa-jwt.js': 'koa-jwt',
  'aws-jwt-verify.js': 'aws-jwt-verify',
  'hono.js': 'hono',
  'fast-jwt.js': 'fast-jwt',
  'fastify-jwt.js': '@fastify/jwt',
  'graphql-yoga.js': '@graphql-yoga/plugin-jwt',
  'hapi.js': '@hapi/jwt',
  'okta-jwt-verifier.js': '@okta/jwt-verifier',
};
const takesRsaAlone = ['@okta/jwt-verifier'];

interface Verifier {
  readonly path: string;
  readonly name: string;
  readonly version: string;
}

const verifiers: Verifier[] = [
  ...(areInstalled
    ? Object.entries(ofPackages).map(([file, name]) => ({
        path: `verifiers/${file}`,
        name,
        version: versionOf(name),
      }))
    : []),
  ...(python ? [{ path: 'service_b.py', name: 'PyJWT', version: versionOfPyJwt() }] : []),
];

// A key that is new signs at once, as after a leak: verifiers have to find it.
const service = await startService({ SIGNING_KEY_LEAD_SECONDS: '0' });
const { services } = service.app;
const rotate = () =>
  rotateSigningKey({ ...services, actor: systemActor, traceId: '', ip: null, userAgent: null }, {});

/** What each answered, and what it had to. */
const answers = new Map<Verifier, Record<string, { seen: number; due: number }>>();
const secondsToKnow = new Map<Verifier, number>();

beforeAll(async () => {
  const issuer = await createIssuer(service);
  const orders = await issuer.createApi({ indicator: 'https://orders.example.com' });
  const ofRsa = await issuer.createApi({
    indicator: 'https://rsa.example.com',
    signingAlg: 'RS256',
  });
  // This makes the key of RS256.
  await rotate();
  await services.keys.reload();
  const apiOf = ({ name }: Verifier): [api: Resource, other: Resource] =>
    takesRsaAlone.includes(name) ? [ofRsa, orders] : [orders, ofRsa];

  const asks = await Promise.all(
    verifiers.map(async (verifier) => {
      const [api, other] = apiOf(verifier);
      const ask = await startVerifier(verifier.path, {
        ISSUER: services.issuer,
        API: api.indicator,
        SCOPE: scope,
      });
      const row: Record<string, { seen: number; due: number }> = {};
      answers.set(verifier, row);
      for (const [name, [token, due]] of Object.entries(await issuer.tokensFor(api, other))) {
        row[name] = { seen: await ask(token), due };
      }
      return { verifier, ask, api, row, old: await issuer.issue(api) };
    }),
  );

  await rotate();
  await services.keys.reload();
  await Promise.all(
    asks.map(async ({ verifier, ask, api, row, old }) => {
      const token = await issuer.issue(api);
      if (decodeProtectedHeader(token).kid === decodeProtectedHeader(old).kid) {
        throw new Error('The key is the one of before.');
      }
      row['old key'] = { seen: await ask(old), due: 200 };
      const began = performance.now();
      const seen = await eventually(async () => {
        const status = await ask(token);
        expect(status).toBe(200);
        return status;
      }, 500).catch(() => ask(token));
      secondsToKnow.set(verifier, Math.round((performance.now() - began) / 1000));
      row['new key'] = { seen, due: 200 };
    }),
  );
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
    'new key after': `${secondsToKnow.get(verifier)} s`,
  }));
  process.stdout.write(tableOf(lines));
});

describe.skipIf(verifiers.length === 0)(
  'a token is checked as docs/checking-tokens.md says',
  () => {
    test.for(verifiers)('with $name $version', (verifier) => {
      const row = Object.entries(answers.get(verifier) ?? {});
      expect(row).toHaveLength(13);
      expect(Object.fromEntries(row.map(([name, { seen }]) => [name, seen]))).toEqual(
        Object.fromEntries(row.map(([name, { due }]) => [name, due])),
      );
    });
  },
);

test('each file of examples/verifiers is tried', () => {
  expect(Object.keys(ofPackages).toSorted()).toEqual(filesOfVerifiers());
});

function tableOf(rows: readonly Record<string, string>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const widths = names.map((name) =>
    Math.max(name.length, ...rows.map((row) => (row[name] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |\n`;
  return `\n${line(names)}${rows.map((row) => line(names.map((name) => row[name] ?? ''))).join('')}\n`;
}
