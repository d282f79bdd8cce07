import { type Algorithm, hash, verify } from '@node-rs/argon2';
import type { Database } from '../db/database.ts';
import { hashQueue } from './hash-queue.ts';
import { verifyImportedPassword } from './import/imported-password.ts';

// The second choice of OWASP's Password Storage Cheat Sheet for Argon2id: 19 MiB, two passes, one lane.
const options = {
  // A const enum of the library, which type stripping cannot inline.
  algorithm: 2 as Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

const currentPrefix = `$argon2id$v=19$m=${options.memoryCost},t=${options.timeCost},p=${options.parallelism}$`;

/** The `passwordAlgorithm` of a digest that {@link hashPassword} made. */
export const currentPasswordAlgorithm = 'Argon2id';

/** A password as it is hashed: in NFC, the same however the keyboard composed it. */
export const normalPassword = (password: string): string => password.normalize('NFC');

/**
 * The Argon2id digest of a password, in the PHC string format (RFC 9106). Takes about 20 ms of one core, after waiting
 * for its turn.
 *
 * @param turn Options of the queue: whether the caller was already admitted.
 * @throws {HashingBusy}
 */
export const hashPassword = (
  password: string,
  turn?: { readonly isAdmitted: boolean },
): Promise<string> => hashQueue.run(() => hash(normalPassword(password), options), turn);

let decoy: Promise<string> | undefined;

/**
 * Whether a password matches the digest, which may be an imported one. Without a digest the answer is false and takes
 * as long, so the time does not reveal whether an account exists. An imported digest takes longer by its own cost,
 * until the first sign-in replaces it. A digest that cannot be checked matches no password.
 *
 * @throws {HashingBusy}
 */
export const verifyPassword = (digest: string | null, password: string): Promise<boolean> =>
  hashQueue.run(async () => {
    // Other systems hash a password as it was typed, and earlier versions of this one did.
    const spellings = new Set([normalPassword(password), password]);
    let isRight = false;
    for (const spelling of spellings) isRight = (await isSpelling(digest, spelling)) || isRight;
    return isRight;
  });

async function isSpelling(digest: string | null, password: string): Promise<boolean> {
  decoy ??= hash('', options);
  if (digest === null || !needsRehash(digest)) {
    const isRight = await isBehind(digest ?? (await decoy), password);
    return digest !== null && isRight;
  }
  // A cheap digest, such as SHA-1, would reveal by its speed that it exists.
  await verify(await decoy, password);
  return isBehind(digest, password);
}

async function isBehind(digest: string, password: string): Promise<boolean> {
  try {
    return needsRehash(digest)
      ? await verifyImportedPassword(digest, password)
      : await verify(digest, password);
  } catch {
    // The libraries throw on what they cannot read. An import rejects it, but the table may hold such a digest.
    return false;
  }
}

/** Whether a digest was made in another way than by {@link hashPassword}. */
export const needsRehash = (digest: string): boolean => !digest.startsWith(currentPrefix);

/**
 * Replaces an imported digest with one of {@link hashPassword}, for a password that was just verified. The password
 * stays the same, so no session ends and no event is raised. Does nothing if the digest has changed meanwhile.
 */
export async function rehashPassword(
  { prisma }: Pick<Database, 'prisma'>,
  user: { readonly id: string; readonly passwordDigest: string },
  password: string,
): Promise<void> {
  const digest = await hashPassword(password, { isAdmitted: true });
  await prisma.user.updateMany({
    where: { id: user.id, passwordDigest: user.passwordDigest },
    data: { passwordDigest: digest, passwordAlgorithm: currentPasswordAlgorithm },
  });
}
