import { lockUser } from '../../db/lock.ts';
import { brokenConstraint, type Transaction } from '../../db/transaction.ts';
import type { IdentityProvider } from '../../generated/prisma/client.ts';
import type { ProviderClaims } from '../../identity-providers/authorization.ts';
import { holdEnabled, isBelievedAbout } from '../../identity-providers/choice.ts';
import type { InteractionAccess, VisitContext } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { findHolder } from '../codes.ts';
import {
  authenticate,
  changeInteraction,
  type Interaction,
  updateInteraction,
} from '../interaction.ts';
import { reportDisabled } from './failure.ts';
import { type Arrival, keepNewcomer, registerNewcomer, stop } from './newcomer.ts';

/** What the claims of a provider come to: an address that it is not believed about is left out. */
export async function arrivalOf(
  tx: Transaction,
  provider: IdentityProvider,
  { isEmailVerified, authenticatedAt: _at, ...claims }: ProviderClaims,
): Promise<Arrival> {
  const { email } = claims;
  return {
    ...claims,
    identityProviderId: provider.id,
    isEmailVerified:
      isEmailVerified && email !== null && (await isBelievedAbout(tx, provider, email)),
  };
}

// A lost race is decided at the second look.
const looks = 3;
const races = new Set(['UserIdentity_issuer_subject_key', 'User_primaryEmail_key']);

/**
 * Decides what a person who came back from an identity provider comes to in an interaction:
 * - whose identity is linked: they are signed in;
 * - whose address both sides have verified: they are signed in, and linked in the end: see {@link linkNewcomer};
 * - whose verified address an account has that did not verify it: they sign in to it first;
 * - a stranger: an account is made, or `completeProfile` comes next.
 *
 * Nothing of it happens once the provider is disabled.
 *
 * @param arrivalIn Reads who came, in the same transaction.
 */
export async function admit(
  context: VisitContext,
  access: InteractionAccess,
  arrivalIn: (tx: Transaction, interaction: Interaction) => Promise<Arrival>,
): Promise<Interaction> {
  const settings = await readSignInExperience(context.database.prisma);
  for (let look = 1; ; look += 1) {
    try {
      return await changeInteraction(context, access, async (tx, found) => {
        const arrival = await arrivalIn(tx, found);
        await tx.newcomer.deleteMany({ where: { interactionId: found.id } });
        if (!(await holdEnabled(tx, arrival.identityProviderId)))
          return stop(tx, found, reportDisabled(context, arrival));
        const interaction = await updateInteraction(tx, found, {
          error: null,
          ...(arrival.isEmailVerified ? { identifier: arrival.email } : {}),
        });
        return (
          (await admitKnown(tx, context, interaction, arrival)) ??
          (await admitHolder(tx, context, interaction, arrival)) ??
          (await registerNewcomer(tx, context, settings, { interaction, arrival }))
        );
      });
    } catch (error) {
      if (look === looks || !races.has(brokenConstraint(error) ?? '')) throw error;
    }
  }
}

/** Signs in the person whose identity is linked. */
async function admitKnown(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  { issuer, subject, email }: Arrival,
): Promise<Interaction | null> {
  const known = await tx.userIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    include: { user: true },
  });
  if (!known) return null;
  if (known.user.isSuspended) return stop(tx, interaction, 'account_unavailable');
  if (known.email !== email)
    await tx.userIdentity.update({ where: { id: known.id }, data: { email } });
  return signIn(tx, context, interaction, known.userId);
}

/** Signs in the holder of the same address, if both sides have verified it. */
async function admitHolder(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  arrival: Arrival,
): Promise<Interaction | null> {
  // To someone who has not shown to hold the address, nothing is told of its holder.
  if (arrival.email === null || !arrival.isEmailVerified) return null;
  const address = { type: 'EMAIL', recipient: arrival.email } as const;
  const found = await findHolder(tx, address);
  if (!found) return null;
  // Again under the lock: an administrator may be changing the address.
  await lockUser(tx, found.id);
  const holder = await findHolder(tx, address);
  if (holder?.id !== found.id) return null;
  if (holder.isSuspended) return stop(tx, interaction, 'account_unavailable');
  // Linked once the sign-in is complete: whoever holds the address has not shown the second factor.
  await keepNewcomer(tx, context, interaction, arrival);
  if (!holder.isEmailVerified) return stop(tx, interaction, 'account_exists');
  return signIn(tx, context, interaction, holder.id);
}

const signIn = (
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  userId: string,
): Promise<Interaction> =>
  authenticate(tx, context, interaction, { userId, methods: ['fed'], event: 'SIGN_IN' });
