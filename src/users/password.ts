import { type Algorithm, hash, verify } from '@node-rs/argon2';
import type { Database } from '../db/database.ts';
import { verifyImportedPassword } from './imported-password.ts';

// The second choice of OWASP's Password Storage Cheat Sheet for Argon2id: 19 MiB, two passes, one lane.
const options = {
  // A const enum of the library's, which type stripping cannot inline.
  algorithm: 2 as Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

const currentPrefix = `$argon2id$v=19$m=${options.memoryCost},t=${options.timeCost},p=${options.parallelism}$`;

/** What `passwordAlgorithm` says of a digest that {@link hashPassword} made. */
export const currentPasswordAlgorithm = 'Argon2id';

/** The Argon2id digest of a password, in the PHC string format (RFC 9106). Takes some 20 ms of one core. */
export const hashPassword = (password: string): Promise<string> => hash(password, options);

let decoy: Promise<string> | undefined;

/**
 * Whether a password is the one behind the digest, which may be an imported one. Without a digest the answer is false
 * and takes as long, so that time does not tell whether an account exists; with an imported digest it takes longer by
 * what that digest costs, until the first sign-in replaces it.
 */
export async function verifyPassword(digest: string | null, password: string): Promise<boolean> {
  decoy ??= hashPassword('');
  if (digest === null || !needsRehash(digest)) {
    const isRight = await verify(digest ?? (await decoy), password);
    return digest !== null && isRight;
  }
  // A digest such as SHA-1's is checked in no time, which would tell that there is one.
  const [isRight] = await Promise.all([
    verifyImportedPassword(digest, password),
    verify(await decoy, password),
  ]);
  return isRight;
}

/** Whether a digest was made otherwise than {@link hashPassword} does it. */
export const needsRehash = (digest: string): boolean => !digest.startsWith(currentPrefix);

/**
 * Replaces an imported digest by one of {@link hashPassword}, of a password that has just been verified. The password
 * stays the same, so nothing ends by it and no event is raised. Where the digest is another by now, nothing happens.
 */
export async function rehashPassword(
  { prisma }: Pick<Database, 'prisma'>,
  user: { readonly id: string; readonly passwordDigest: string },
  password: string,
): Promise<void> {
  const digest = await hashPassword(password);
  await prisma.user.updateMany({
    where: { id: user.id, passwordDigest: user.passwordDigest },
    data: { passwordDigest: digest, passwordAlgorithm: currentPasswordAlgorithm },
  });
}
