import { isDeepStrictEqual } from 'node:util';
import { everything } from '../auth/granting/setter-scopes.ts';
import { lockUser } from '../db/lock.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { User } from '../generated/prisma/client.ts';
import { assertNotElsewhere } from '../identity-providers/choice.ts';
import { type Failed, suspended, tryGuess } from '../protection/attempts.ts';
import { readIdentifier } from '../protection/identifier.ts';
import { guessAt } from '../proving/guesses.ts';
import { checkPassword, replaceImported } from '../proving/password.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { findUserByIdentifier, isOfferedFor } from '../users/find.ts';
import { hashQueue } from '../users/hash-queue.ts';
import { authenticate, type Interaction, moveInteraction, readInteraction } from './interaction.ts';
import { newcomerOf } from './steps.ts';

/**
 * Signs a person in by identifier and password. An unknown or suspended user, a missing and a wrong password fail the
 * same way, with the same statements and in the same time.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} when passwords are off;
 *   or the address is that of an identity provider; {@link InteractionExpiredError}; {@link HashingBusy} with no
 *   attempt taken.
 */
export async function signInWithPassword(
  context: VisitContext,
  access: InteractionAccess,
  { identifier: typed, password }: { identifier: string; password: string },
): Promise<Interaction> {
  const { database } = context;
  hashQueue.assertRoom();
  const settings = await readSignInExperience(database.prisma);
  if (!settings.passwordEnabled) throw new NotAllowedError('Nobody signs in by password here.');
  const identifier = readIdentifier(typed);
  const newcomer = newcomerOf(await readInteraction(context, access), identifier.value);
  await assertNotElsewhere(database.prisma, identifier.value, newcomer);
  const find = async () => {
    const user = await findUserByIdentifier(database.prisma, settings, identifier);
    return { user, inForce: await readSettingsInForce(database.prisma, user?.id) };
  };
  const found = await find();
  const guess = guessAt(context, 'PASSWORD', identifier, {
    userId: found.user?.id,
    applicationId: access.applicationId,
  });
  const signIn = async ({
    user: known,
    inForce,
  }: typeof found): Promise<{ user: User; interaction: Interaction } | Failed> => {
    const user = await checkPassword(context, { settings, inForce }, known, password);
    if (user === null || user === suspended) return user;
    if (!isOfferedFor(inForce, identifier)) return null;
    const interaction = await moveInteraction(context, access, async (tx, running) => {
      if (!(await isUnchanged(tx, user))) return null;
      // While the password was hashed, the person may have got more rights.
      if (!isDeepStrictEqual(await readSettingsInForce(tx, user.id), inForce)) return null;
      const told = await authenticate(tx, context, running, {
        userId: user.id,
        identifier: identifier.value,
        methods: ['pwd'],
        event: 'SIGN_IN',
        through: everything,
        proved: null,
      });
      return told.result;
    });
    return interaction ? { user, interaction } : signIn(await find());
  };
  const { user, interaction } = await tryGuess(context, found.inForce, guess, () => signIn(found));
  await replaceImported(context, user, password);
  return interaction;
}

/** Whether a password that was just checked is still the user's. Locks the user, so that it stays so. */
async function isUnchanged(tx: Transaction, { id, passwordDigest }: User): Promise<boolean> {
  try {
    const now = await lockUser(tx, id);
    return now.passwordDigest === passwordDigest && !now.isSuspended;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}
