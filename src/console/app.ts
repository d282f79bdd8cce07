import { consoleApplicationId } from '../applications/built-in.ts';
import { managementIndicator } from '../auth/scopes.ts';
import type { FirstPartyApp } from '../oidc/first-party/app.ts';

/** The console. Its sessions have the rights of the person's roles. */
export const consoleApp = {
  name: 'console',
  applicationId: consoleApplicationId,
  audience: managementIndicator,
  // Other sites' pages cannot send it, not even by a link.
  sameSite: 'Strict',
  idleSeconds: 3600,
  notPages: [
    'sign-in',
    'callback',
    'signed-out',
    'setup',
    'session',
    'token',
    'graphql',
    'graphiql',
    'export',
    'assets',
  ],
} satisfies FirstPartyApp;
