import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { toNumericDate } from '../../clock.ts';
import { createSharedStatement } from '../../db/batch.ts';
import type { Sql } from '../../db/sql.ts';
import type { Services } from '../../services.ts';

type Surroundings = Pick<Services, 'cipher' | 'clock' | 'database'>;

const stepSeconds = 60;
/** How many steps before and after the present one a nonce is good. */
const maxSteps = 2;

/** The secret of the nonces, from which oidc-provider makes the same ones. */
export const nonceSecret = ({ cipher }: Pick<Services, 'cipher'>): Buffer =>
  cipher.passingKeys('dpop-nonce')[0];

function nonceOf(secret: Buffer, step: number): Buffer {
  const salt = Buffer.alloc(8);
  salt.writeBigUInt64BE(BigInt(step));
  return Buffer.from(hkdfSync('sha256', secret, salt, 'DPoP', 32));
}

const stepAt = ({ clock }: Pick<Services, 'clock'>): number =>
  Math.floor(toNumericDate(clock.now()) / stepSeconds);

/** A nonce for the next proof of a client (RFC 9449 §8). All nodes make the same ones, and keep none. */
export const nextNonce = (services: Surroundings): string =>
  nonceOf(nonceSecret(services), stepAt(services) + 1).toString('base64url');

/** Whether a nonce was made a short time ago. */
export function isFreshNonce(services: Surroundings, nonce: unknown): boolean {
  if (typeof nonce !== 'string') return false;
  const given = Buffer.from(nonce, 'base64url');
  const secret = nonceSecret(services);
  const now = stepAt(services);
  const steps = Array.from({ length: 2 * maxSteps + 1 }, (_, i) => now - maxSteps + i);
  return steps.some((step) => {
    const expected = nonceOf(secret, step);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function readNeed(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ dpopNonce: string | null }>(
    'dpop-nonce',
    `SELECT "settings" ->> 'dpopNonce' AS "dpopNonce" FROM "ServiceSettings"`,
    [],
  );
  return row?.dpopNonce === 'REQUIRED';
}

const readNeedShared = createSharedStatement(async (sql: Sql, all: readonly undefined[]) => {
  const isNeeded = await readNeed(sql);
  return all.map(() => isNeeded);
});

/** Whether proofs need a nonce: `dpopNonce` of the service's settings. Concurrent requests share a statement. */
export const needsNonce = ({ database }: Pick<Services, 'database'>): Promise<boolean> =>
  readNeedShared(database.tokens, undefined);
