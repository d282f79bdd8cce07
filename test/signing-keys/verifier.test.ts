import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect, test, vi } from 'vitest';
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

test('it would, if a key signed as soon as it is made', async () => {
  expect(await countRefused({ SIGNING_KEY_LEAD_SECONDS: '0' })).toBeGreaterThan(0);
});
