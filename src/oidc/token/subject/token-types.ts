// Underscores, as in the identifiers of RFC 8693 §3, which lets others define their own.
const own = 'urn:signet:params:oauth:token-type';

/** An access token: the ordinary subject token, and all that an exchange issues (RFC 8693 §3). */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** A token of `createSubjectToken`, by which an agent acts for a user. */
export const subjectTokenType = `${own}:subject_token`;

/** A token of `createPersonalAccessToken`. */
export const personalAccessTokenType = `${own}:personal_access_token`;
