import { NotAllowedError } from '../errors.ts';

/**
 * The applications that are part of the service. Their ids are the same everywhere, so nothing has to be looked up, and
 * no other application can take their place.
 */
export const consoleApplicationId = 'app_0000000000000000000c0ns01e';
/** The application as which people sign in to the pages of their account. */
export const accountApplicationId = 'app_0000000000000000000acc0vnt';

const redirectPaths: ReadonlyMap<string, string> = new Map([
  [consoleApplicationId, '/console/callback'],
  [accountApplicationId, '/account/callback'],
]);

/**
 * Where the provider sends a browser back to one of the service's own applications; it follows from the public URL
 * alone. Undefined for any other application.
 */
export function ownRedirectUri(applicationId: string, baseUrl: string): string | undefined {
  const path = redirectPaths.get(applicationId);
  return path === undefined ? undefined : `${baseUrl}${path}`;
}

/**
 * Makes sure that an application is not part of the service. Nobody may give such a one a secret, another redirect URI
 * or an exchange: whoever could sign in as it could act for the people who use it.
 *
 * @throws {NotAllowedError}
 */
export function assertNotOwn(applicationId: string): void {
  if (!redirectPaths.has(applicationId)) return;
  throw new NotAllowedError('This application belongs to the service and cannot be changed.');
}
