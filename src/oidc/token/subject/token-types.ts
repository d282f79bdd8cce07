// Underscores, as in the identifiers of RFC 8693 §3, which lets others define their own.
const signetPrefix = 'urn:signet:params:oauth:token-type';

/** An access token: the ordinary subject token, and all that an exchange issues (RFC 8693 §3). */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** A token of `createSubjectToken`, by which an agent acts for a user. */
export const subjectTokenType = `${signetPrefix}:subject_token`;

/** A token of `createPersonalAccessToken`. */
export const personalAccessTokenType = `${signetPrefix}:personal_access_token`;

/** An ID token, the subject of an ID-JAG (RFC 8693 §3). */
export const idTokenType = 'urn:ietf:params:oauth:token-type:id_token';

/** An identity assertion for another authorization server (draft-ietf-oauth-identity-assertion-authz-grant). */
export const idJagType = 'urn:ietf:params:oauth:token-type:id-jag';
