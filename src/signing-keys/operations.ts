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
  ensureKeyBeside,
  lastTokenExpiresAt,
  signingKeysLock,
  signingStartOf,
  signsAfterLead,
  statusAt,
} from '../keys/signing-keys.ts';
import { type Jobs, repeat } from '../scheduler.ts';
import { readServiceSettings } from '../service-settings/settings.ts';
import type { Context, Services } from '../services.ts';

const rotateInput = z.object({
  algorithm: z.enum(signingAlgorithms).nullish(),
  immediately: z.boolean().nullish(),
});

/**
 * Creates a signing key, and retires the one before. The new key is published at once and signs once
 * `SIGNING_KEY_LEAD_SECONDS` have passed, so that every verifier that reads the key set again meanwhile knows it. The old
 * key signs until then. It stays in the published set until the last token it signed has expired: the longest lifetime
 * of a resource's access tokens, or of an id token, from then. Keys of other algorithms, where
 * applications or resources ask for some, are renewed too. Raises `SigningKey.Rotated` for each new key.
 *
 * `immediately` is for a key that leaked: the new key signs from now on, and keys that wait are replaced with the one
 * that signs. Verifiers that hold the key set without it refuse its tokens until they read the set again.
 *
 * All nodes go by the instant in the row, and read the rows every few seconds.
 *
 * @throws {InvalidInputError}
 */
export async function rotateSigningKey(
  context: Context,
  input: z.input<typeof rotateInput>,
): Promise<Rotated> {
  const { algorithm, immediately } = parseInput(rotateInput, input);
  const rotated = await transaction(context.database, async (tx) => {
    await lockName(tx, signingKeysLock);
    return rotate(tx, context, {
      algorithm: algorithm ?? context.config.signingAlgorithm,
      signsFrom: immediately ? context.clock.now() : signsAfterLead(context),
    });
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
  context: Origin & Pick<Context, 'cipher'>,
  { algorithm, signsFrom }: { algorithm: SigningAlgorithm; signsFrom: Date },
): Promise<Told<Rotated>> {
  const { _max: longest } = await tx.resource.aggregate({
    _max: { accessTokenTtlSeconds: true },
  });
  const retired = await tx.signingKey.updateManyAndReturn({
    // With a shorter lead than before, others were to sign for longer.
    where: { OR: [{ retiredAt: null }, { retiredAt: { gt: signsFrom } }] },
    data: {
      retiredAt: signsFrom,
      expiresAt: lastTokenExpiresAt(signsFrom, longest.accessTokenTtlSeconds ?? 0),
    },
  });
  const signingKey = await createSigningKey(tx, context, algorithm, { signsFrom });
  const created = [signingKey];
  for (const asked of await algorithmsAskedFor(tx)) {
    const key = await ensureKeyBeside(tx, context, asked, signsFrom);
    if (key) created.push(key);
  }
  const told = await recordEvents(
    tx,
    context,
    created.map(({ id }) => ({ type: 'SigningKey.Rotated', data: { signingKeyId: id } })),
  );
  const [replaced = null] = retired
    .filter((key) => !key.isBeside && signingStartOf(key) <= signsFrom)
    .sort((a, b) => signingStartOf(b).getTime() - signingStartOf(a).getTime());
  return told.with({ signingKey, retiredSigningKey: replaced });
}

/** The algorithms that applications and resources ask for. */
async function algorithmsAskedFor(tx: Transaction): Promise<ReadonlySet<SigningAlgorithm>> {
  const byApplications = await tx.application.findMany({
    where: { idTokenSigningAlg: { not: null } },
    distinct: ['idTokenSigningAlg'],
    select: { idTokenSigningAlg: true },
  });
  const byResources = await tx.resource.findMany({
    where: { signingAlg: { not: null } },
    distinct: ['signingAlg'],
    select: { signingAlg: true },
  });
  const asked = [
    ...byApplications.map(({ idTokenSigningAlg }) => idTokenSigningAlg),
    ...byResources.map(({ signingAlg }) => signingAlg),
  ];
  return new Set(asked as SigningAlgorithm[]);
}

const dayMs = 24 * 3_600_000;

/** Makes a signing key once the last one has signed for as long as the settings say. */
async function rotateIfDue(tx: Transaction, services: Services): Promise<boolean> {
  const { signingKeyRotationDays } = await readServiceSettings(tx);
  if (signingKeyRotationDays === null) return false;
  await lockName(tx, signingKeysLock);
  const last = await tx.signingKey.findFirst({
    where: { retiredAt: null, isBeside: false },
    orderBy: { createdAt: 'desc' },
  });
  const now = services.clock.now().getTime();
  const isDue =
    last === null || signingStartOf(last).getTime() + signingKeyRotationDays * dayMs <= now;
  if (isDue) {
    const algorithm = services.config.signingAlgorithm;
    const signsFrom = signsAfterLead(services);
    await rotate(tx, { ...services, ...bySignet }, { algorithm, signsFrom });
  }
  return false;
}

/** The jobs of this part. Nodes learn of a new key as they do of one by hand. */
export const jobs: Jobs = (services) => [
  { name: 'rotate-signing-keys', everyMs: 60_000, run: (tx) => rotateIfDue(tx, services) },
];

/**
 * Deletes a signing key at once, for example because it leaked. Every token it signed is refused from now on, by the
 * other nodes within seconds, and by verifiers elsewhere once they read the key set again. If it still signs and the
 * next one waits, the next one signs from now on. If it waits itself, the key that it was to replace goes on. Raises
 * `SigningKey.Deleted`.
 *
 * @returns The key in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} on a key that signs or will, and that no other can stand in for: rotate
 *   first.
 */
export async function deleteSigningKey(
  context: Context,
  { id }: { id: string },
): Promise<SigningKey> {
  const deleted = await transaction(context.database, async (tx) => {
    await lockName(tx, signingKeysLock);
    const key = await tx.signingKey.findUnique({ where: { id } });
    if (!key) throw new NotFoundError(id);
    const now = context.clock.now();
    const status = statusAt(key, now);
    if (status === 'PENDING') await keepReplaced(tx, key);
    if (key.retiredAt === null && !(status === 'PENDING' && (await hasStandIn(tx, key))))
      throw new NotAllowedError('The newest key cannot be deleted: rotate first.');
    if (status === 'ACTIVE') {
      await tx.signingKey.updateMany({
        where: { signsFrom: key.retiredAt, ...besideOf(key) },
        data: { signsFrom: now },
      });
    }
    const told = await recordEvent(tx, context, 'SigningKey.Deleted', { signingKeyId: id });
    return told.with(tx.signingKey.delete({ where: { id } }));
  });
  await onceCommitted(() => context.keys.reload());
  return deleted;
}

/** The keys that a key replaces, or that replace it, at an instant: what signs the same in the same algorithm. */
const besideOf = ({ algorithm, isBeside }: SigningKey) =>
  isBeside ? { algorithm } : { OR: [{ isBeside }, { algorithm }] };

/** Makes the keys that a waiting key was to replace sign for as long as that would have. */
async function keepReplaced(tx: Transaction, key: SigningKey): Promise<void> {
  const { retiredAt, expiresAt } = key;
  await tx.signingKey.updateMany({
    where: { retiredAt: signingStartOf(key), ...besideOf(key) },
    data: { retiredAt, expiresAt },
  });
}

/** Whether other keys do for good what a key does: as the service signs, and in its algorithm, where that is asked for. */
async function hasStandIn(tx: Transaction, key: SigningKey): Promise<boolean> {
  const { id, algorithm, isBeside } = key;
  const others = await tx.signingKey.findMany({
    where: { id: { not: id }, retiredAt: null },
    select: { algorithm: true, isBeside: true },
  });
  if (!isBeside && others.every((other) => other.isBeside)) return false;
  if (others.some((other) => other.algorithm === algorithm)) return true;
  return !(await algorithmsAskedFor(tx)).has(algorithm as SigningAlgorithm);
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
