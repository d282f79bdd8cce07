import { type OwnCookie, signInCookiesOf } from '../../oidc/own/cookies.ts';

const root = '/account';

// Lax, because applications link to these pages. Forms carry a token of their own.
/** The cookie of a browser that is signed in to the pages. */
export const sessionCookie: OwnCookie = { name: 'signet_account', root, sameSite: 'Lax' };

/** The cookies of sign-ins under way. */
export const signIns = signInCookiesOf({ name: 'signet_account_sign_in.', root });
