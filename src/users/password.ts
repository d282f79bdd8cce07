import { type Algorithm, hash, verify } from '@node-rs/argon2';

// The second choice of OWASP's Password Storage Cheat Sheet for Argon2id: 19 MiB, two passes, one lane.
const options = {
  // A const enum of the library's, which type stripping cannot inline.
  algorithm: 2 as Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** What `passwordAlgorithm` says of a digest that {@link hashPassword} made. */
export const currentPasswordAlgorithm = 'Argon2id';

/** The Argon2id digest of a password, in the PHC string format (RFC 9106). Takes some 20 ms of one core. */
export const hashPassword = (password: string): Promise<string> => hash(password, options);

let decoy: Promise<string> | undefined;

/**
 * Whether a password is the one behind the digest. Without a digest the answer is false and takes as long, so
 * that time does not tell whether an account exists.
 */
export async function verifyPassword(digest: string | null, password: string): Promise<boolean> {
  decoy ??= hashPassword('');
  const isRight = await verify(digest ?? (await decoy), password);
  return digest !== null && isRight;
}
