import { z } from 'zod';
import { type SigningAlgorithm, signingAlgorithms } from '../config.ts';
import { lockName } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { SigningKey } from '../generated/prisma/client.ts';
import { parseInput } from '../input.ts';
import {
  createSigningKey,
  ensureIdTokenKey,
  idTokenTtlSeconds,
  signingKeysLock,
} from '../keys/signing-keys.ts';
import type { Context, Services } from '../services.ts';

// Another node may use a retired key for some seconds more; those tokens must stay valid too.
const graceSeconds = 60;

const rotateInput = z.object({ algorithm: z.enum(signingAlgorithms).nullish() });

/**
 * Creates a signing key that signs from now on, and retires the old one. The old key stays in the published set
 * until the last token it signed has expired: the longest lifetime of a resource's access tokens, or of an id token,
 * from now. Keys for id tokens in other algorithms, where applications ask for some, are renewed too.
 *
 * The new key signs as soon as it is published, not later: a verifier that meets a `kid` it does not know reads the key
 * set again (OpenID Connect Core §10.1.1), and caches keep the key set for seconds alone. Other nodes sign with it
 * within seconds, and verify what it signed from the first token on.
 *
 * @throws {InvalidInputError}
 */
export async function rotateSigningKey(
  context: Context,
  input: z.input<typeof rotateInput>,
): Promise<{ signingKey: SigningKey; retiredSigningKey: SigningKey | null }> {
  const { algorithm } = parseInput(rotateInput, input);
  const { config, clock, database } = context;
  const rotated = await transaction(database, async (tx) => {
    await lockName(tx, signingKeysLock);
    const now = clock.now();
    const { _max: longest } = await tx.resource.aggregate({
      _max: { accessTokenTtlSeconds: true },
    });
    const ttlSeconds = Math.max(idTokenTtlSeconds, longest.accessTokenTtlSeconds ?? 0);
    const retired = await tx.signingKey.updateManyAndReturn({
      where: { retiredAt: null },
      data: {
        retiredAt: now,
        expiresAt: new Date(now.getTime() + (ttlSeconds + graceSeconds) * 1000),
      },
    });
    const next = algorithm ?? config.signingAlgorithm;
    const signingKey = await createSigningKey(tx, context, next);
    const asked = await tx.application.findMany({
      where: { idTokenSigningAlg: { not: null } },
      distinct: ['idTokenSigningAlg'],
      select: { idTokenSigningAlg: true },
    });
    for (const { idTokenSigningAlg } of asked) {
      await ensureIdTokenKey(tx, context, idTokenSigningAlg as SigningAlgorithm);
    }
    return {
      signingKey,
      retiredSigningKey: retired.findLast(({ forIdTokens }) => !forIdTokens) ?? null,
    };
  });
  await context.keys.reload();
  return rotated;
}

/**
 * Deletes a retired signing key at once, for example because it leaked. Every token it signed is refused from now on,
 * by the other nodes within seconds, and by verifiers elsewhere once they read the key set again.
 *
 * @returns The key in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} on the current key: rotate first.
 */
export async function deleteSigningKey(
  context: Context,
  { id }: { id: string },
): Promise<SigningKey> {
  const deleted = await transaction(context.database, async (tx) => {
    await lockName(tx, signingKeysLock);
    const key = await tx.signingKey.findUnique({ where: { id } });
    if (!key) throw new NotFoundError(id);
    if (key.retiredAt === null) {
      throw new NotAllowedError('The key that signs now cannot be deleted: rotate first.');
    }
    return tx.signingKey.delete({ where: { id } });
  });
  await context.keys.reload();
  return deleted;
}

// Other nodes send no hint for it.
const followIntervalMs = 5_000;

/**
 * Keeps this node's signing keys in step with what other nodes rotate and delete, and removes keys whose last token
 * has expired.
 *
 * @returns Stops; resolves when nothing is running.
 */
export function followSigningKeys(services: Services): () => Promise<void> {
  const { database, clock, keys, log } = services;
  async function follow() {
    try {
      await database.prisma.signingKey.deleteMany({ where: { expiresAt: { lte: clock.now() } } });
      await keys.reload();
    } catch (error) {
      log.warn({ err: error }, 'the signing keys could not be read again');
    }
  }

  let underWay = follow();
  const timer = setInterval(
    () => {
      underWay = underWay.then(follow);
    },
    Math.max(followIntervalMs, database.hints.pollMs),
  );
  return () => {
    clearInterval(timer);
    return underWay;
  };
}
