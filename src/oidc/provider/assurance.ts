/** The authentication context class of a sign-in (OpenID Connect Core §2): with a second factor, or without. */
export const acrOf = (methods: readonly string[]): string =>
  methods.includes('mfa') ? 'urn:signet:aal2' : 'urn:signet:aal1';
