import { mayProve } from '../../auth/granting/prove.ts';
import { lockUser } from '../../db/lock.ts';
import { type Told, untold } from '../../db/told.ts';
import { brokenConstraint, type Transaction } from '../../db/transaction.ts';
import type { IdentityProvider } from '../../generated/prisma/client.ts';
import type { ProviderClaims } from '../../identity-providers/authorization.ts';
import { holdEnabled, isBelievedAbout } from '../../identity-providers/choice.ts';
import { isKnownThereAsAnother } from '../../identity-providers/identities.ts';
import { findUserByAddress } from '../../proving/codes.ts';
import type { InteractionAccess, VisitContext } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import {
  authenticate,
  changeInteraction,
  type Interaction,
  throughAll,
  updateInteraction,
} from '../interaction.ts';
import { type FederationError, reportDisabled, reportFailedFederation } from './failure.ts';
import {
  type Arrival,
  type Arrived,
  keepNewcomer,
  registerNewcomer,
  stop,
  vouchedFor,
} from './newcomer.ts';

/**
 * The person whom a provider's claims describe. An address counts as verified only if the provider may vouch for it.
 */
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

// After a lost race, the next attempt sees what the winner wrote.
const maxAttempts = 3;
const races = new Set(['UserIdentity_issuer_subject_key', 'User_primaryEmail_key']);

/**
 * Decides how the interaction of a person who came back from an identity provider continues:
 * - The identity is linked: they are signed in. The account's address is verified if the provider has verified it.
 * - The holder of the address is linked to somebody else at the provider: nobody is signed in.
 * - Both sides verified the address: they are signed in, and linked at the end. See {@link linkNewcomer}.
 * - Only the provider verified the address, and an account has it: they sign in to that account first.
 * - Nobody is known: an account is created, or `completeProfile` comes next.
 *
 * A disabled provider ends the federation without a sign-in.
 *
 * @param arrivalIn Reads who came back, in the same transaction.
 */
export async function admit(
  context: VisitContext,
  access: InteractionAccess,
  arrivalIn: (tx: Transaction, interaction: Interaction) => Promise<Arrival>,
): Promise<Interaction> {
  const settings = await readSignInExperience(context.database.prisma);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { interaction, barredId } = await changeInteraction<{
        interaction: Interaction;
        barredId: string | null;
      }>(context, access, async (tx, found) => {
        const arrival = await arrivalIn(tx, found);
        await tx.newcomer.deleteMany({ where: { interactionId: found.id } });
        const setterScopes = await holdEnabled(tx, arrival);
        if (!setterScopes)
          return untold({
            interaction: await stop(tx, found, reportDisabled(context, arrival)),
            barredId: null,
          });
        const interaction = await updateInteraction(tx, found, {
          error: null,
          ...(arrival.isEmailVerified ? { identifier: arrival.email } : {}),
        });
        const arrived = { arrival, setterScopes };
        const admitted =
          (await admitKnown(tx, context, interaction, arrived)) ??
          (await admitHolder(tx, context, interaction, arrived));
        if (admitted && 'barredId' in admitted)
          return untold({
            barredId: admitted.barredId,
            interaction: await stop(tx, interaction, admitted.error),
          });
        const told =
          admitted ?? (await registerNewcomer(tx, context, settings, { interaction, ...arrived }));
        return told.with({ interaction: told.result, barredId: null });
      });
      reportFailedFederation(context, access, interaction.error, barredId);
      return interaction;
    } catch (error) {
      if (attempt === maxAttempts || !races.has(brokenConstraint(error) ?? '')) throw error;
    }
  }
}

/** An account that the person may not sign in to. */
interface Barred {
  readonly barredId: string;
  readonly error: FederationError;
}

const suspended = (barredId: string): Barred => ({ barredId, error: 'account_unavailable' });

/** Signs in the person whose identity is linked. */
async function admitKnown(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  { arrival, setterScopes }: Arrived,
): Promise<Told<Interaction> | Barred | null> {
  const { issuer, subject, email } = arrival;
  const known = await tx.userIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    include: { user: true },
  });
  if (!known) return null;
  if (known.user.isSuspended) return suspended(known.userId);
  if (known.email !== email)
    await tx.userIdentity.update({ where: { id: known.id }, data: { email } });
  // Joins the organizations of this one once the sign-in is complete.
  if (known.identityProviderId !== arrival.identityProviderId)
    await keepNewcomer(tx, context, interaction, arrival);
  return signIn(tx, context, interaction, known.userId, { arrival, setterScopes });
}

/** Signs in the holder of the same address, if both sides have verified it. */
async function admitHolder(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  { arrival, setterScopes }: Arrived,
): Promise<Told<Interaction> | Barred | null> {
  // Reveals nothing about the holder unless the provider verified the address.
  const address = vouchedFor(arrival);
  if (address === null) return null;
  const found = await findUserByAddress(tx, address);
  if (!found) return null;
  // Read again under the lock: an administrator may be changing the address.
  await lockUser(tx, found.id);
  const holder = await findUserByAddress(tx, address);
  if (holder?.id !== found.id) return null;
  if (holder.isSuspended) return suspended(holder.id);
  if (await isKnownThereAsAnother(tx, holder.id, arrival))
    return { barredId: holder.id, error: 'address_reassigned' };
  // Linked once the sign-in is complete: until then no second factor was shown.
  await keepNewcomer(tx, context, interaction, arrival);
  if (!holder.isEmailVerified) return untold(await stop(tx, interaction, 'account_exists'));
  return signIn(tx, context, interaction, holder.id, { arrival, setterScopes });
}

async function signIn(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  userId: string,
  { arrival, setterScopes: through }: Arrived,
): Promise<Told<Interaction>> {
  if (!(await mayProve(tx, throughAll(interaction, through), userId)))
    return untold(await stop(tx, interaction, 'federation_failed'));
  return authenticate(tx, context, interaction, {
    userId,
    methods: ['fed'],
    event: 'SIGN_IN',
    through,
    proved: vouchedFor(arrival),
  });
}
