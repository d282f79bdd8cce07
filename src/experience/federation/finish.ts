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
import { type Interaction, isRecent, moveInteraction, readInteraction } from '../interaction.ts';
import { admit, arrivalOf } from './admit.ts';
import {
  type FederationError,
  reportDisabled,
  reportFailedFederation,
  reportFailure,
} from './failure.ts';
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
  if (!isRecentEnough(context, claims, freshnessOf(interaction))) {
    const failure = new FederationFailure('the person did not sign in again (auth_time)');
    reportFailure(context, failure, provider.id);
    return explain(context, access, 'federation_failed');
  }
  return admit(context, access, (tx) => arrivalOf(tx, provider, claims));
}

// The time that a browser may need from the provider to this service.
const redirectMs = 60 * 1000;

/** Whether the sign-in at the provider is recent enough. True if the provider does not say when it was. */
function isRecentEnough(
  { clock }: Pick<Services, 'clock'>,
  { authenticatedAt }: ProviderClaims,
  { isFresh, maxAgeSeconds = Number.POSITIVE_INFINITY }: Freshness,
): boolean {
  if (authenticatedAt === null) return true;
  const now = clock.now();
  const ageMs = now.getTime() - authenticatedAt.getTime();
  return ageMs <= maxAgeSeconds * 1000 + redirectMs && (!isFresh || isRecent(authenticatedAt, now));
}

/**
 * Ends a federation, and logs a failure.
 *
 * @returns The person who came back; or the error to show.
 */
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

/** Shows the error in the interaction, unless another federation has succeeded. */
function explain(
  context: VisitContext,
  access: InteractionAccess,
  error: FederationError,
): Promise<Interaction> {
  reportFailedFederation(context, access, error);
  return moveInteraction(context, access, async (tx, interaction) =>
    interaction.userId === null && interaction.newcomer === null
      ? stop(tx, interaction, error)
      : interaction,
  );
}

/** The result of a federation of another program, in the browser that came back. */
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
  const { applicationId } = await readInteraction(context, { id: interactionId });
  const access = { id: interactionId, applicationId, uid: null };
  const returned = await endOrExplain(context, { interactionId }, response);
  if (returned === 'federation_expired') return null;
  if (typeof returned === 'string')
    return { interaction: await explain(context, access, returned), confirmation: null };
  const confirmation = randomBytes(32).toString('base64url');
  const interaction = await moveInteraction(context, access, async (tx, found) => {
    const arrival = await arrivalOf(tx, returned.provider, returned.claims);
    if (!(await holdEnabled(tx, arrival))) return stop(tx, found, reportDisabled(context, arrival));
    await keepNewcomer(tx, context, found, arrival, digestOf(confirmation));
    return { ...found, newcomer: await tx.newcomer.findUnique({ where: { interactionId } }) };
  });
  reportFailedFederation(context, access, interaction.error);
  return { interaction, confirmation: interaction.newcomer === null ? null : confirmation };
}

/**
 * Continues a sign-in that the person has confirmed or refused.
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
    select: { interaction: { select: { id: true, applicationId: true } } },
  });
  if (!newcomer) throw new VerificationFailedError();
  const access = { ...newcomer.interaction, uid: null };
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
