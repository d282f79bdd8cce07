import type { Services } from '../services.ts';

/** The value of a cookie; undefined if the browser sent none of this name. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const pair = header
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}

/** How long browsers keep a cookie at most, in seconds (RFC 6265bis §5.5). */
export const maxAgeSeconds = 400 * 24 * 60 * 60;

/** Makes the `Set-Cookie` header of a cookie that a browser keeps for all pages of the service. */
export function keptCookie(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  name: string,
  value: string,
): string {
  const { protocol, pathname } = new URL(baseUrl);
  const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
  const secure = protocol === 'https:' ? '; Secure' : '';
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
