import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Services } from '../services.ts';
import { cookieIn, keptCookie } from './cookie.ts';
import { digestWith } from './keyed-digest.ts';

/** The cookie that marks a browser in which people signed in before. */
const deviceCookieName = 'signet_device';

/** How many people a browser is known for. Beyond that, it forgets whoever signed in longest ago. */
export const maxPeople = 8;

const pattern = /^[\w-]{22}(?:\.[\w-]{43}){1,8}$/;

type Signing = Pick<Services, 'cipher'>;

// The proof binds a browser to a person: its cookie gives no counter for anyone else. The first is made with a key that
// no change of the secret touches; nodes of the version before made theirs with the secret.
const proofsOf = ({ cipher }: Signing, device: string, userId: string): [string, ...string[]] => {
  const proofWith = (key: Buffer) =>
    Buffer.from(digestWith(key, [device, userId])).toString('base64url');
  return [
    proofWith(cipher.keptKey('device-cookie')),
    ...cipher.passingKeys('device-cookie').map(proofWith),
  ];
};

function readCookie(
  cookieHeader: string | undefined,
): { id: string; proofs: string[] } | undefined {
  const value = cookieIn(cookieHeader, deviceCookieName) ?? '';
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
  const proofs = proofsOf(services, cookie?.id ?? '', userId ?? '');
  const isKnown =
    cookie?.proofs.some((candidate) => proofs.some((proof) => isEqual(candidate, proof))) ?? false;
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
  const [proof, ...earlier] = proofsOf(services, id, userId);
  const others = known?.proofs.filter((other) => other !== proof && !earlier.includes(other)) ?? [];
  const value = [id, proof, ...others.slice(0, maxPeople - 1)].join('.');
  return keptCookie(services, deviceCookieName, value);
}
