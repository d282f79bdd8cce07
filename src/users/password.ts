import { type Algorithm, hash, verify } from '@node-rs/argon2';
import type { Standing } from '../admission/queue.ts';
import { isRehearsal } from '../db/around.ts';
import type { Database } from '../db/database.ts';
import type { PasswordCost, Services } from '../services.ts';
import { composed } from '../text/typed.ts';
import { HashingBusy, hashQueue } from './hash-queue.ts';
import { importedChecks } from './import/imported-checks.ts';

/** The second choice of OWASP's Password Storage Cheat Sheet for Argon2id: 19 MiB, two passes, one lane. */
export const standardPasswordCost: PasswordCost = { memoryCost: 19_456, timeCost: 2 };

type Costly = Pick<Services, 'passwordCost'>;

const optionsOf = ({ memoryCost, timeCost }: PasswordCost) => ({
  // A const enum of the library, which type stripping cannot inline.
  algorithm: 2 as Algorithm.Argon2id,
  memoryCost,
  timeCost,
  parallelism: 1,
});

const prefixOf = ({ memoryCost, timeCost }: PasswordCost) =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$`;

/** The `passwordAlgorithm` of a digest that {@link hashPassword} made. */
export const currentPasswordAlgorithm = 'Argon2id';

/** A password as it is hashed: in NFC, the same however the keyboard composed it. */
export const normalPassword = (password: string): string => composed(password);

/**
 * The Argon2id digest of a password, in the PHC string format (RFC 9106). Takes about 20 ms of one core at the
 * standard cost, after waiting for its turn. In a dry run, which keeps no password and holds a transaction open, it is
 * made up at once.
 *
 * @throws {HashingBusy}
 */
export const hashPassword = (
  { passwordCost }: Costly,
  password: string,
  standing?: Standing,
): Promise<string> =>
  isRehearsal()
    ? Promise.resolve(`${prefixOf(passwordCost)}${'A'.repeat(22)}$${'A'.repeat(43)}`)
    : hashQueue.run(() => hash(normalPassword(password), optionsOf(passwordCost)), standing);

const decoys = new WeakMap<PasswordCost, Promise<string>>();

function decoyOf(cost: PasswordCost): Promise<string> {
  const decoy = decoys.get(cost) ?? hash('', optionsOf(cost));
  decoys.set(cost, decoy);
  return decoy;
}

/** The result of a check; `unchecked` if too many imported digests wait for theirs. */
export type PasswordCheck = 'right' | 'wrong' | 'unchecked';

/**
 * Checks a password against a digest, which may be an imported one. A failed check does the same work for everybody, so
 * its time does not reveal whether an account exists or which digest it has: a check of a digest of ours and, while the
 * directory holds imported ones, a check of the costliest of those. Imported digests have a queue of their own. People
 * whose digest is ours do not wait for it, because a right password needs none.
 *
 * @param digest Null for an unknown person, and one without a password. A digest that cannot be checked matches no
 *   password.
 * @throws {HashingBusy} before anything was checked.
 */
export async function verifyPassword(
  services: Costly & Pick<Services, 'database'>,
  digest: string | null,
  password: string,
): Promise<PasswordCheck> {
  // Other systems hash a password as it was typed, and earlier versions of this one did.
  const spellings = [...new Set([normalPassword(password), password])];
  const isImported = digest !== null && needsRehash(services, digest);
  const ours = isImported ? null : digest;
  const isBehindOurs = await hashQueue.run(async () => {
    const tried = ours ?? (await decoyOf(services.passwordCost));
    let isBehind = false;
    for (const spelling of spellings) isBehind = (await isDigestOf(tried, spelling)) || isBehind;
    return isBehind;
  });
  if (ours !== null && isBehindOurs) return 'right';
  const costliest = await findCostliestImported(services.database.prisma);
  const imported = isImported ? digest : null;
  // An imported digest has no stored cost if its format cannot be imported, or an earlier version stored it.
  const measure = costliest ?? imported;
  if (measure === null) return 'wrong';
  try {
    return (await importedChecks.check(imported, spellings, measure)) ? 'right' : 'wrong';
  } catch (error) {
    if (error instanceof HashingBusy) return 'unchecked';
    throw error;
  }
}

const isDigestOf = (digest: string, password: string) =>
  // The library throws on what it cannot read.
  verify(digest, password).catch(() => false);

/** The imported digest that costs most to check; null if there is none. */
async function findCostliestImported(prisma: Database['prisma']): Promise<string | null> {
  const user = await prisma.user.findFirst({
    where: { passwordCost: { not: null } },
    orderBy: { passwordCost: 'desc' },
    select: { passwordDigest: true },
  });
  return user?.passwordDigest ?? null;
}

/** Whether a digest was made in another way than by {@link hashPassword}. */
export const needsRehash = ({ passwordCost }: Costly, digest: string): boolean =>
  !digest.startsWith(prefixOf(passwordCost));

/**
 * Replaces an imported digest with one of {@link hashPassword}, for a password that was just verified. The password
 * stays the same, so no session ends and no event is raised. Does nothing if the digest has changed meanwhile.
 */
export async function rehashPassword(
  services: Pick<Services, 'database' | 'passwordCost'>,
  user: { readonly id: string; readonly passwordDigest: string },
  password: string,
): Promise<void> {
  const digest = await hashPassword(services, password, { isAdmitted: true });
  await services.database.prisma.user.updateMany({
    where: { id: user.id, passwordDigest: user.passwordDigest },
    data: {
      passwordDigest: digest,
      passwordAlgorithm: currentPasswordAlgorithm,
      passwordCost: null,
    },
  });
}
