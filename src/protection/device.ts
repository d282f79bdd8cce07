import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Services } from '../services.ts';
import { keyedDigest } from './keyed-digest.ts';

/** The cookie that marks a browser in which people signed in before. */
export const deviceCookieName = 'signet_device';

/** How long a browser is known again, in seconds. Browsers keep no cookie longer (RFC 6265bis §5.5). */
export const maxAgeSeconds = 400 * 24 * 60 * 60;

/** The people who share a browser: of more, those who were here longest ago are strangers again. */
export const maxPeople = 8;

const pattern = /^[\w-]{22}(?:\.[\w-]{43}){1,8}$/;

type Signing = Pick<Services, 'cipher'>;

// The proof binds a device to a person: a cookie gives nobody a counter for another person.
const proofOf = ({ cipher }: Signing, device: string, userId: string) =>
  Buffer.from(keyedDigest(cipher, 'device-cookie', [device, userId])).toString('base64url');

function readCookie(
  cookieHeader: string | undefined,
): { id: string; proofs: string[] } | undefined {
  const pair = cookieHeader
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${deviceCookieName}=`));
  const value = pair?.slice(deviceCookieName.length + 1) ?? '';
  if (!pattern.test(value)) return undefined;
  const [id = '', ...proofs] = value.split('.');
  return { id, proofs };
}

const isEqual = (a: string, b: string) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/**
 * The id of the browser, if its cookie proves that this person signed in there before; otherwise undefined, also for an
 * unknown person.
 *
 * @see https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */
export function readDevice(
  services: Signing,
  cookieHeader: string | undefined,
  userId: string | undefined,
): string | undefined {
  const cookie = readCookie(cookieHeader);
  // Computed for an unknown person too, so that the time is the same.
  const proof = proofOf(services, cookie?.id ?? '', userId ?? '');
  const isKnown = cookie?.proofs.some((candidate) => isEqual(candidate, proof)) ?? false;
  return isKnown && userId !== undefined ? cookie?.id : undefined;
}

/**
 * Makes the `Set-Cookie` header after a sign-in, so that {@link readDevice} recognizes the browser for this person too.
 */
export function deviceCookie(
  services: Signing & Pick<Services, 'baseUrl'>,
  cookieHeader: string | undefined,
  userId: string,
): string {
  const known = readCookie(cookieHeader);
  const id = known?.id ?? randomBytes(16).toString('base64url');
  const proof = proofOf(services, id, userId);
  const others = known?.proofs.filter((other) => other !== proof) ?? [];
  const value = [id, proof, ...others.slice(0, maxPeople - 1)].join('.');
  const { protocol, pathname } = new URL(services.baseUrl);
  const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
  const secure = protocol === 'https:' ? '; Secure' : '';
  return `${deviceCookieName}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
