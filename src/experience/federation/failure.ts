import { FederationFailure } from '../../identity-providers/authorization.ts';
import type { Services } from '../../services.ts';

/** Why an identity provider sent a person back without a sign-in, as `interaction.error`. */
export const federationErrors = {
  access_denied: 'The person, or the provider, said no.',
  federation_expired: 'It took too long, or was answered before.',
  federation_failed: "The provider's answer cannot be trusted; the log says why.",
  account_exists:
    'An account has this address. The person can sign in to it, and the identity is linked to it.',
  account_unavailable: 'The account cannot be used.',
  sign_up_closed: 'The person has no account, and strangers cannot register.',
} as const;

/** A reason in `interaction.error`. */
export type FederationError = keyof typeof federationErrors;

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

/** Logs that an identity provider was disabled while somebody was on the way from it. */
export function reportDisabled(
  services: Pick<Services, 'log'>,
  { identityProviderId }: { readonly identityProviderId: string },
): FederationError {
  const failure = new FederationFailure('the identity provider was disabled meanwhile');
  reportFailure(services, failure, identityProviderId);
  return 'federation_failed';
}
