const kibibyte = 1024;

/** The largest request bodies, in bytes, by what they are for. */
export const maxBodyBytes = {
  /** For the management API from a sender with a valid token; also the largest message over WebSocket. */
  management: 4 * 1024 * kibibyte,
  /** For the management API from any other sender. */
  managementUnknown: 100 * kibibyte,
  /** For the token endpoint, introspection and revocation. */
  token: 64 * kibibyte,
  /** For the Experience API. */
  experience: 64 * kibibyte,
  /** For the Account API. A profile may have 64 KiB. */
  account: 128 * kibibyte,
  /** A form of the sign-in pages, or an authorization or sign-out request by POST. */
  page: 16 * kibibyte,
} as const;
