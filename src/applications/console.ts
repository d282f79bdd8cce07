import { NotAllowedError } from '../errors.ts';

/**
 * The id of the application as which people sign in to the console. It is the same everywhere, so nothing has to be
 * looked up, and no other application can take its place.
 */
export const consoleApplicationId = 'app_0000000000000000000c0ns01e';

/** Where the provider sends a browser back to the console; it follows from the public URL alone. */
export const consoleRedirectUri = (baseUrl: string): string => `${baseUrl}/console/callback`;

/**
 * Makes sure that an application is not the console. Nobody may give it a secret, another redirect URI or an exchange:
 * whoever could sign in as the console could act for its administrators.
 *
 * @throws {NotAllowedError}
 */
export function assertNotConsole(applicationId: string): void {
  if (applicationId !== consoleApplicationId) return;
  throw new NotAllowedError('The console belongs to the service and cannot be changed.');
}
