import { randomBytes } from 'node:crypto';
import { VerificationFailedError } from '../../errors.ts';
import {
  FederationFailure,
  type Freshness,
  type ProviderClaims,
} from '../../identity-providers/authorization.ts';
import { holdEnabled } from '../../identity-providers/choice.ts';
import {
  endFederation,
  type FederationOwner,
  findFederation,
  type Returned,
} from '../../identity-providers/federation.ts';
import { digestOf } from '../../keys/digest.ts';
import type { InteractionAccess, Services, VisitContext } from '../../services.ts';
import { changeInteraction, type Interaction, isRecent, readInteraction } from '../interaction.ts';
import { admit, arrivalOf } from './admit.ts';
import { type FederationError, reportDisabled, reportFailure } from './failure.ts';
import { keepNewcomer, stop } from './newcomer.ts';
import { freshnessOf } from './start.ts';

/**
 * Ends a federation in the browser of its interaction: the person is signed in, registers, or learns from
 * `interaction.error` why not.
 *
 * @param response The parameters of the redirect URI.
 * @throws {InteractionExpiredError}
 */
export async function finishFederation(
  context: VisitContext,
  access: InteractionAccess,
  response: URLSearchParams,
): Promise<Interaction> {
  const interaction = await readInteraction(context, access);
  const returned = await endOrExplain(context, { interactionId: access.id }, response);
  if (typeof returned === 'string') return explain(context, access, returned);
  const { claims, provider } = returned;
  if (!isFreshThere(context, claims, freshnessOf(interaction))) {
    const failure = new FederationFailure('the person did not sign in again (auth_time)');
    reportFailure(context, failure, provider.id);
    return explain(context, access, 'federation_failed');
  }
  return admit(context, access, (tx) => arrivalOf(tx, provider, claims));
}

// How long a browser may take from the provider back to here.
const onTheWayMs = 60 * 1000;

/** Whether a person signed in at the provider as lately as asked, or the provider does not tell when it was. */
function isFreshThere(
  { clock }: Pick<Services, 'clock'>,
  { authenticatedAt }: ProviderClaims,
  { isFresh, maxAgeSeconds = Number.POSITIVE_INFINITY }: Freshness,
): boolean {
  if (authenticatedAt === null) return true;
  const now = clock.now();
  const ageMs = now.getTime() - authenticatedAt.getTime();
  return ageMs <= maxAgeSeconds * 1000 + onTheWayMs && (!isFresh || isRecent(authenticatedAt, now));
}

/** What a federation came to, or why it came to nothing. */
export async function endOrExplain(
  services: Services,
  owner: FederationOwner,
  response: URLSearchParams,
): Promise<Returned | FederationError> {
  try {
    return (await endFederation(services, owner, response)) ?? 'federation_expired';
  } catch (error) {
    if (!(error instanceof FederationFailure)) throw error;
    reportFailure(services, error);
    return error.isDenied ? 'access_denied' : 'federation_failed';
  }
}

/** Tells an interaction why a federation came to nothing, unless another one has succeeded. */
const explain = (
  context: VisitContext,
  access: InteractionAccess,
  error: FederationError,
): Promise<Interaction> =>
  changeInteraction(context, access, async (tx, interaction) =>
    interaction.userId === null && interaction.newcomer === null
      ? stop(tx, interaction, error)
      : interaction,
  );

/** What a browser that came back learns of an interaction which another program holds. */
export interface HeadlessReturn {
  readonly interaction: Interaction;
  /** Confirms the sign-in: see {@link confirmReturn}. Null if there is nothing to confirm. */
  readonly confirmation: string | null;
}

/**
 * Ends a federation that another program began, in a browser that proves nothing. The person has to confirm it:
 * somebody else may have begun it and sent them the link (RFC 8628 §5.4).
 *
 * @returns Null for a `state` that is unknown, expired or used.
 * @throws {InteractionExpiredError}
 */
export async function receiveReturn(
  context: VisitContext,
  response: URLSearchParams,
): Promise<HeadlessReturn | null> {
  const interactionId = (await findFederation(context, response))?.interactionId;
  if (interactionId == null) return null;
  const access = { id: interactionId, uid: null };
  await readInteraction(context, access);
  const returned = await endOrExplain(context, { interactionId }, response);
  if (returned === 'federation_expired') return null;
  if (typeof returned === 'string')
    return { interaction: await explain(context, access, returned), confirmation: null };
  const confirmation = randomBytes(32).toString('base64url');
  const interaction = await changeInteraction(context, access, async (tx, found) => {
    const arrival = await arrivalOf(tx, returned.provider, returned.claims);
    if (!(await holdEnabled(tx, arrival.identityProviderId)))
      return stop(tx, found, reportDisabled(context, arrival));
    await keepNewcomer(tx, context, found, arrival, digestOf(confirmation));
    return { ...found, newcomer: await tx.newcomer.findUnique({ where: { interactionId } }) };
  });
  return { interaction, confirmation: interaction.newcomer === null ? null : confirmation };
}

/**
 * Goes on with a sign-in that the person has confirmed, or refused.
 *
 * @throws {VerificationFailedError} for an unknown or used confirmation; {@link InteractionExpiredError}
 */
export async function confirmReturn(
  context: VisitContext,
  { confirmation, isRefused }: { confirmation: string; isRefused: boolean },
): Promise<Interaction> {
  const digest = digestOf(confirmation);
  const newcomer = await context.database.prisma.newcomer.findUnique({
    where: { confirmation: digest },
    select: { interactionId: true },
  });
  if (!newcomer) throw new VerificationFailedError();
  const access = { id: newcomer.interactionId, uid: null };
  if (isRefused) {
    await context.database.prisma.newcomer.deleteMany({ where: { confirmation: digest } });
    return explain(context, access, 'access_denied');
  }
  return admit(context, access, async (tx) => {
    // A concurrent request may have confirmed it, or another federation may have come back.
    const found = await tx.newcomer.findUnique({ where: { confirmation: digest } });
    if (!found) throw new VerificationFailedError();
    const { interactionId: _in, confirmation: _by, createdAt: _at, ...arrival } = found;
    return arrival;
  });
}
