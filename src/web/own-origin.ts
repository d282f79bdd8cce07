import type { IncomingHttpHeaders } from 'node:http';
import type { Services } from '../services.ts';

/**
 * Whether the browser says that a request comes from this service's own pages. If the browser says nothing, the result
 * is `!isRequired`: the caller then has other proof, such as a token in the form.
 *
 * @see https://developer.mozilla.org/docs/Web/HTTP/Headers/Sec-Fetch-Site
 */
export function isOwnOrigin(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  { 'sec-fetch-site': site, origin }: IncomingHttpHeaders,
  { isRequired }: { isRequired: boolean },
): boolean {
  const isOwn = origin === new URL(baseUrl).origin;
  if (isRequired) return isOwn && (site === undefined || site === 'same-origin');
  return site === undefined ? origin === undefined || isOwn : site === 'same-origin';
}
