import { z } from 'zod';
import { type SigningAlgorithm, signingAlgorithms } from '../config.ts';
import { onceCommitted } from '../db/around.ts';
import { lockName } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import { bySignet, type Origin, recordEvent, recordEvents } from '../events/record.ts';
import type { SigningKey } from '../generated/prisma/client.ts';
import { parseInput } from '../input.ts';
import {
  createSigningKey,
  ensureIdTokenKey,
  idTokenTtlSeconds,
  signingKeysLock,
  signingStartOf,
  signsAt,
} from '../keys/signing-keys.ts';
import { type Jobs, repeat } from '../scheduler.ts';
import { readServiceSettings } from '../service-settings/settings.ts';
import type { Context, Services } from '../services.ts';

// Another node may use a retired key for some seconds more; those tokens must stay valid too.
const graceSeconds = 60;

const rotateInput = z.object({ algorithm: z.enum(signingAlgorithms).nullish() });

/**
 * Creates a signing key, and retires the one before. The new key is published at once and signs once
 * `SIGNING_KEY_LEAD_SECONDS` have passed, so that every verifier that reads the key set again meanwhile knows it. The old
 * key signs until then. It stays in the published set until the last token it signed has expired: the longest lifetime
 * of a resource's access tokens, or of an id token, from then. Keys for id tokens in other algorithms, where
 * applications ask for some, are renewed too. Raises `SigningKey.Rotated` for each new key.
 *
 * All nodes go by the instant in the row, and read the rows every few seconds.
 *
 * @throws {InvalidInputError}
 */
export async function rotateSigningKey(
  context: Context,
  input: z.input<typeof rotateInput>,
): Promise<Rotated> {
  const { algorithm } = parseInput(rotateInput, input);
  const rotated = await transaction(context.database, async (tx) => {
    await lockName(tx, signingKeysLock);
    return rotate(tx, context, algorithm ?? context.config.signingAlgorithm);
  });
  await onceCommitted(() => context.keys.reload());
  return rotated;
}

/** A new key, and the one that it replaces. */
interface Rotated {
  readonly signingKey: SigningKey;
  readonly retiredSigningKey: SigningKey | null;
}

async function rotate(
  tx: Transaction,
  context: Origin & Pick<Context, 'cipher' | 'config'>,
  algorithm: SigningAlgorithm,
): Promise<Told<Rotated>> {
  const { config, clock } = context;
  const signsFrom = new Date(clock.now().getTime() + config.signingKeyLeadSeconds * 1000);
  const { _max: longest } = await tx.resource.aggregate({
    _max: { accessTokenTtlSeconds: true },
  });
  const ttlSeconds = Math.max(idTokenTtlSeconds, longest.accessTokenTtlSeconds ?? 0);
  const retired = await tx.signingKey.updateManyAndReturn({
    where: { retiredAt: null },
    data: {
      retiredAt: signsFrom,
      expiresAt: new Date(signsFrom.getTime() + (ttlSeconds + graceSeconds) * 1000),
    },
  });
  const signingKey = await createSigningKey(tx, context, algorithm, { signsFrom });
  const asked = await tx.application.findMany({
    where: { idTokenSigningAlg: { not: null } },
    distinct: ['idTokenSigningAlg'],
    select: { idTokenSigningAlg: true },
  });
  const created = [signingKey];
  for (const { idTokenSigningAlg } of asked) {
    const wanted = idTokenSigningAlg as SigningAlgorithm;
    const key = await ensureIdTokenKey(tx, context, wanted, signsFrom);
    if (key) created.push(key);
  }
  const told = await recordEvents(
    tx,
    context,
    created.map(({ id }) => ({ type: 'SigningKey.Rotated', data: { signingKeyId: id } })),
  );
  return told.with({
    signingKey,
    retiredSigningKey: retired.findLast(({ forIdTokens }) => !forIdTokens) ?? null,
  });
}

const dayMs = 24 * 3_600_000;

/** Makes a signing key once the last one has signed for as long as the settings say. */
async function rotateIfDue(tx: Transaction, services: Services): Promise<boolean> {
  const { signingKeyRotationDays } = await readServiceSettings(tx);
  if (signingKeyRotationDays === null) return false;
  await lockName(tx, signingKeysLock);
  const last = await tx.signingKey.findFirst({
    where: { retiredAt: null, forIdTokens: false },
    orderBy: { createdAt: 'desc' },
  });
  const now = services.clock.now().getTime();
  const isDue =
    last === null || signingStartOf(last).getTime() + signingKeyRotationDays * dayMs <= now;
  if (isDue) await rotate(tx, { ...services, ...bySignet }, services.config.signingAlgorithm);
  return false;
}

/** The jobs of this part. Nodes learn of a new key as they do of one by hand. */
export const jobs: Jobs = (services) => [
  { name: 'rotate-signing-keys', everyMs: 60_000, run: (tx) => rotateIfDue(tx, services) },
];

/**
 * Deletes a signing key at once, for example because it leaked. Every token it signed is refused from now on, by the
 * other nodes within seconds, and by verifiers elsewhere once they read the key set again. If it still signs and the
 * next one waits, the next one signs from now on. Raises `SigningKey.Deleted`.
 *
 * @returns The key in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} on the newest key, which nothing replaces: rotate first.
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
      throw new NotAllowedError('The newest key cannot be deleted: rotate first.');
    }
    const now = context.clock.now();
    if (signsAt(key, now)) {
      await tx.signingKey.updateMany({
        where: { retiredAt: null, signsFrom: { gt: now } },
        data: { signsFrom: now },
      });
    }
    const told = await recordEvent(tx, context, 'SigningKey.Deleted', { signingKeyId: id });
    return told.with(tx.signingKey.delete({ where: { id } }));
  });
  await onceCommitted(() => context.keys.reload());
  return deleted;
}

// Other nodes send no hint for it.
const followIntervalMs = 5_000;

/**
 * Follows rotations and deletions of signing keys by other nodes.
 *
 * @returns A function that stops it; it resolves when nothing is running.
 */
export function followSigningKeys(services: Services): () => Promise<void> {
  const { database, keys, log } = services;
  return repeat(
    Math.max(followIntervalMs, database.hints.pollMs),
    async () => {
      await keys.reload();
    },
    (error) => log.warn({ err: error }, 'the signing keys could not be read again'),
  );
}
