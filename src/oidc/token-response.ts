/** What a token request that is granted answers (RFC 6749 §5.1, RFC 8693 §2.2.1). */
export interface TokenResponse {
  readonly access_token: string;
  readonly issued_token_type?: string;
  readonly token_type: 'Bearer';
  /** Seconds. */
  readonly expires_in: number;
  /** The scopes granted, separated by spaces; empty where none. */
  readonly scope: string;
}
