/** The answer to a granted token request (RFC 6749 §5.1, RFC 8693 §2.2.1). */
export interface TokenResponse {
  readonly access_token: string;
  readonly issued_token_type?: string;
  /** `N_A`: what is issued is no access token (RFC 8693 §2.2.1). */
  readonly token_type: 'Bearer' | 'DPoP' | 'N_A';
  /** In seconds. */
  readonly expires_in: number;
  /** The granted scopes, separated by spaces; empty if none. */
  readonly scope: string;
}
