import { accountApplicationId } from '../applications/built-in.ts';
import { accountIndicator, accountScopes } from '../auth/scopes.ts';
import type { FirstPartyApp } from '../oidc/first-party/app.ts';

/** The pages where people look after their own account. */
export const accountApp: FirstPartyApp = {
  name: 'account',
  applicationId: accountApplicationId,
  audience: accountIndicator,
  scopes: new Set(accountScopes.keys()),
  // Applications link to these pages. Their forms carry a token.
  sameSite: 'Lax',
  notPages: ['sign-in', 'callback', 'sign-out', 'signed-out', 'deleted', 'graphql', 'verify'],
};
