import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, test, vi } from 'vitest';
import { verifyAccessToken } from '../../src/auth/access-token.ts';
import { systemActor } from '../../src/services.ts';
import { rotateSigningKey } from '../../src/signing-keys/operations.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { startSecondNode, startService } from '../support/service.ts';

// The verifiers' clock and the service's are one, and run as fast as the test wants.
vi.useFakeTimers({ toFake: ['Date'] });
closeAtEnd(async () => void vi.useRealTimers());

const stepMs = 5_000;
const steps = 120;

/**
 * Lets ten minutes pass, in which keys change by each node in turn, and counts the tokens that verifiers refuse
 * who read the key set at different times and hold it for as long, as `createRemoteJWKSet` does by default.
 */
async function countRefused(environment: Record<string, string>): Promise<number> {
  const service = await startService(environment);
  const other = await startSecondNode(service);
  const nodes = [service, other];
  const { issuer } = service.app.services;
  const newVerifier = () => createRemoteJWKSet(new URL(`${service.url}/oidc/jwks`));
  const verifiers = [newVerifier()];
  let refused = 0;
  for (let step = 0; step < steps; step += 1) {
    vi.setSystemTime(Date.now() + stepMs);
    const node = nodes[step % 2] ?? service;
    if (step % 10 === 3) verifiers.push(newVerifier());
    if (step % 19 === 18) {
      const call = { actor: systemActor, traceId: '', ip: null, userAgent: null };
      await rotateSigningKey({ ...node.app.services, ...call }, {});
    }
    // As often as the machine's clock would have it.
    for (const { app } of nodes) await app.services.keys.reload();
    const token = await node.managementToken(undefined, service.admin);
    const results = await Promise.allSettled(
      verifiers.map((keys) => jwtVerify(token, keys, { issuer })),
    );
    refused += results.filter(({ status }) => status === 'rejected').length;
  }
  return refused;
}

test('a verifier that holds the key set refuses no token, whoever rotates', async () => {
  expect(await countRefused({})).toBe(0);
});

/** An API as docs/checking-tokens.md shows it, with middleware as Express has it; it reads the keys once it is asked. */
async function startApi(issuer: string, path: string): Promise<string> {
  const keys = createRemoteJWKSet(new URL(`${issuer}/${path}`));
  type Middleware = (
    request: IncomingMessage,
    response: ServerResponse,
    next: () => void,
  ) => Promise<void>;
  const checkJwt: Middleware = async ({ headers }, response, next) => {
    const token = headers.authorization?.slice('Bearer '.length) ?? '';
    const claims = await jwtVerify(token, keys, { issuer, typ: 'at+jwt' }).catch(() => undefined);
    if (claims) next();
    else response.writeHead(401).end();
  };
  const api = createServer((request, response) => {
    void checkJwt(request, response, () => response.writeHead(204).end());
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  closeAtEnd(async () => {
    api.closeAllConnections();
    api.close();
  });
  return `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
}

test('APIs refuse no token of either node through a rotation, and of one that missed it', async () => {
  vi.setSystemTime(Date.now());
  const service = await startService();
  const other = await startSecondNode(service);
  const { issuer } = service.app.services;
  const apis = await Promise.all(
    ['jwks', '.well-known/jwks.json'].map((path) => startApi(issuer, path)),
  );
  const kids = new Set<unknown>();
  /** Has each node's token checked by each API. */
  async function checkAll(nodes: readonly { managementToken: typeof service.managementToken }[]) {
    for (const node of nodes) {
      const token = await node.managementToken(undefined, service.admin);
      kids.add(decodeProtectedHeader(token).kid);
      for (const api of apis) {
        const { status } = await fetch(api, { headers: { authorization: `Bearer ${token}` } });
        expect([kids.size, status]).toEqual([kids.size, 204]);
      }
    }
  }

  await checkAll([service, other]);
  const call = { actor: systemActor, traceId: '', ip: null, userAgent: null };
  const { signingKey } = await rotateSigningKey({ ...service.app.services, ...call }, {});
  await checkAll([service, other]);
  // The other node has not read the keys again, and its clock does not wait for it.
  vi.setSystemTime(Date.now() + 59_000);
  await checkAll([service, other]);
  expect(kids.size).toBe(1);
  vi.setSystemTime(Date.now() + 1_000);
  await checkAll([service]);
  expect(kids.size).toBe(2);
  const token = await service.managementToken();
  const { app } = other;
  await expect(verifyAccessToken(app.services, token)).resolves.toMatchObject({ iss: issuer });
  await checkAll([other]);
  expect(kids.has(signingKey.id)).toBe(true);
  expect(app.services.keys.current().kid).toBe(signingKey.id);
  // One that was down meanwhile.
  await checkAll([await startSecondNode(service)]);
  expect(kids.size).toBe(2);
});

test('it would, if a key signed as soon as it is made', async () => {
  expect(await countRefused({ SIGNING_KEY_LEAD_SECONDS: '0' })).toBeGreaterThan(0);
});
