import type { Services } from '../../services.ts';

/** Signet as WebAuthn sees it (WebAuthn Level 3 §4, relying party). */
export interface RelyingParty {
  /** The relying party id: the host of `BASE_URL`, to which passkeys are bound. */
  readonly id: string;
  /** The only origin whose pages can use them. */
  readonly origin: string;
}

/** The relying party at the service's public URL. */
export function relyingPartyOf({ baseUrl }: Pick<Services, 'baseUrl'>): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

/**
 * The user handle of a person (§5.4.3): the user's id, which reveals nothing about them. An authenticator does not show
 * it, and returns it when the person has not said who they are.
 */
export const userHandleOf = (userId: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(userId);

/** How long a person has for one ceremony, in seconds (§15.1 recommends five to ten minutes). */
export const ceremonySeconds = 300;

/** The signature algorithms of new passkeys, the preferred first (RFC 9053 §2, RFC 8812 §2): EdDSA, ES256, RS256. */
export const algorithms: readonly number[] = [-8, -7, -257];
