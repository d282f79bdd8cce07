import { FederationFailure } from '../../identity-providers/authorization.ts';
import {
  type FailureReason,
  reportFailedSignIn,
} from '../../protection/refusals/failed-sign-in.ts';
import type { InteractionAccess, Services, VisitContext } from '../../services.ts';

/** Why an identity provider sent a person back without a sign-in, as `interaction.error`. */
export const federationErrors = {
  access_denied: 'The person cancelled, or the provider refused.',
  federation_expired: 'It took too long, or was answered before.',
  federation_failed: "The provider's answer could not be verified; the log says why.",
  account_exists:
    'An account has this address. The person can sign in to it, and the identity is linked to it.',
  address_reassigned:
    'An account has this address, and is linked to somebody else at the provider: the address was given to another person. The account can be entered another way; nothing is linked.',
  account_unavailable: 'The account cannot be used.',
  sign_up_closed: 'The person has no account, and sign-up is closed.',
} as const;

/** A reason in `interaction.error`. */
export type FederationError = keyof typeof federationErrors;

// An account with the address is no failure: the person signs in to it next.
const reasons: Partial<Record<string, FailureReason>> = {
  access_denied: 'PROVIDER',
  federation_expired: 'PROVIDER',
  federation_failed: 'PROVIDER',
  address_reassigned: 'PROVIDER',
  account_unavailable: 'SUSPENDED',
  sign_up_closed: 'CREDENTIAL',
} satisfies Partial<Record<FederationError, FailureReason>>;

/**
 * Reports that an identity provider did not sign a person in, for `SignIn.Failed`.
 *
 * @param error The `interaction.error`; null after a success.
 */
export function reportFailedFederation(
  context: VisitContext,
  { applicationId }: Pick<InteractionAccess, 'applicationId'>,
  error: string | null,
  userId: string | null = null,
): void {
  const reason = reasons[error ?? ''];
  if (!reason) return;
  const failed = {
    identifierType: null,
    userId,
    method: 'PROVIDER',
    reason,
    applicationId,
  } as const;
  reportFailedSignIn(context, failed);
}

/** Logs why an identity provider did not sign a person in. */
export function reportFailure(
  { log }: Pick<Services, 'log'>,
  { message, isDenied }: FederationFailure,
  identityProviderId?: string,
): void {
  const found = { identityProviderId, reason: message };
  if (isDenied) log.info(found, 'an identity provider denied a sign-in');
  else log.warn(found, 'an identity provider could not sign a person in');
}

/** Logs that an identity provider was disabled while a person was signing in there. */
export function reportDisabled(
  services: Pick<Services, 'log'>,
  { identityProviderId }: { readonly identityProviderId: string },
): FederationError {
  const failure = new FederationFailure('the identity provider was disabled meanwhile');
  reportFailure(services, failure, identityProviderId);
  return 'federation_failed';
}
