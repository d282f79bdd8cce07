import { z } from 'zod';
import type { Context, Services } from '../auth/context.ts';
import { signingAlgorithms } from '../config.ts';
import { lockName } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { SigningKey } from '../generated/prisma/client.ts';
import { parseInput } from '../input.ts';
import { createSigningKey, idTokenTtlSeconds } from '../keys/signing-keys.ts';

const lock = 'signet:signing-keys';

// Another node learns within seconds that a key no longer signs; what it signs meanwhile has to stay good too.
const graceSeconds = 60;

const rotateInput = z.object({ algorithm: z.enum(signingAlgorithms).nullish() });

/**
 * Makes a signing key that signs from now on, and retires the one that did. The old key stays in the published set
 * until the last token it signed has expired: the longest lifetime of a resource's access tokens, or of an id token,
 * from now.
 *
 * The new key signs as soon as it is published, not later: a verifier that meets a `kid` it does not know reads the
 * key set again (OpenID Connect Core §10.1.1), and the key set asks not to be cached. Other nodes sign with it within
 * seconds, and verify what it signed from the first token on.
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
    await lockName(tx, lock);
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
    return {
      signingKey: await createSigningKey(tx, context, algorithm ?? config.signingAlgorithm),
      retiredSigningKey: retired.at(-1) ?? null,
    };
  });
  await context.keys.reload();
  return rotated;
}

/**
 * Deletes a retired signing key at once, as when it has leaked: every token it signed is refused from now on, by the
 * other nodes within seconds, and by verifiers elsewhere once they read the key set again.
 *
 * @returns The key as it last was.
 * @throws {NotFoundError} {@link NotAllowedError} on the key that signs now: rotate first.
 */
export async function deleteSigningKey(
  context: Context,
  { id }: { id: string },
): Promise<SigningKey> {
  const deleted = await transaction(context.database, async (tx) => {
    await lockName(tx, lock);
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

const followIntervalMs = 5_000;

/**
 * Keeps this node's signing keys in step with what other nodes rotate and delete, and removes keys whose last token
 * has expired.
 *
 * @returns Stops it; resolves when nothing of it is under way any more.
 */
export function followSigningKeys(services: Services): () => Promise<void> {
  const { database, clock, keys, log } = services;
  let underWay = Promise.resolve();

  async function follow() {
    try {
      await database.prisma.signingKey.deleteMany({ where: { expiresAt: { lte: clock.now() } } });
      await keys.reload();
    } catch (error) {
      log.warn({ err: error }, 'the signing keys could not be read again');
    }
  }

  const timer = setInterval(() => {
    underWay = underWay.then(follow);
  }, followIntervalMs);
  return () => {
    clearInterval(timer);
    return underWay;
  };
}
