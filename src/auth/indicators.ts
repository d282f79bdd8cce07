import { foldCase } from '../input.ts';
import { isReservedIndicator } from './scopes.ts';

// RFC 3986 §4.3: a scheme, and no fragment.
const absoluteUri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s#\p{Cc}]+$/u;
const specialScheme = /^(?:https?|wss?|ftp):/i;
// In canonical form as it stands: most indicators are. A dot here begins no segment, and no host of digits or Punycode.
const plain =
  /^https?:\/\/(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*\/(?:[\w~\-!$&'()*+,;=:@/]|(?<=[A-Za-z0-9])\.)*$/;

// An index holds no longer values. Encoded, a spelling may be longer.
const maxBytes = 2048;
const maxLength = 4 * maxBytes;

/**
 * The one form of all spellings of a resource indicator, compared as URIs (RFC 3986 §6.2.2, §6.2.3): scheme and host in
 * small letters, no default port, no dot segments, `/` for an empty path, and percent-encoding only where it says
 * something. Of `http` and the like as every URL class writes them; of a URN scheme, namespace and hex digits (RFC 8141
 * §3.1).
 *
 * @returns Null if the text has but its own spelling: it is no indicator, too long, or of `urn:signet:`, which has no
 *   spellings.
 */
export function canonicalIndicator(text: string): string | null {
  if (text.length > maxLength || !absoluteUri.test(text) || !text.isWellFormed()) return null;
  const canonical = plain.test(text) && !text.includes('xn--') ? text : canonicalOf(text);
  if (canonical === null || Buffer.byteLength(canonical) > maxBytes) return null;
  return isReservedIndicator(canonical) ? null : canonical;
}

/** Whether two indicators are spellings of one. */
export const areSpellings = (one: string, other: string): boolean =>
  one === other || isAmong(canonicalIndicator(one), [other]);

/** Whether a list has an indicator, in any spelling. */
export const listsIndicator = (list: readonly string[], indicator: string): boolean =>
  list.includes(indicator) || (list.length > 0 && isAmong(canonicalIndicator(indicator), list));

const isAmong = (canonical: string | null, list: readonly string[]): boolean =>
  canonical !== null && list.some((one) => canonicalIndicator(one) === canonical);

function canonicalOf(text: string): string | null {
  if (/^urn:/i.test(text)) return canonicalUrn(text);
  // Before anything is decoded: a URL class takes `%2e` for a dot too, and knows which hosts are the same.
  if (specialScheme.test(text)) return canonicalUrl(text);
  return canonicalGeneric(encodedOnce(text));
}

function canonicalUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  // The host has no encoding any more: what a URL class takes for its name is its name.
  const [, scheme = '', user = '', host = '', rest = ''] =
    /^([^/]*\/\/)([^/?]*@)?([^/?]*)(.*)$/s.exec(new URL(text).href) ?? [];
  return scheme + encodedOnce(user) + host + encodedOnce(rest);
}

const upperHex = (text: string): string =>
  text.replace(/%[0-9a-f]{2}/gi, (encoded) => encoded.toUpperCase());

/** Nothing is decoded: what is encoded in a URN is not the same as the character. */
const canonicalUrn = (text: string): string =>
  upperHex(text).replace(/^urn:(?:[a-z0-9-]+:)?/i, foldCase);

// RFC 3986 §2.2 and §2.3: a character that may stand in a URI, or what stands for one.
const tokens = /%([0-9A-Fa-f]{2})|%|[^\w.~\-:/?[\]@!$&'()*+,;=]/gu;
const unreserved = /^[\w.~-]$/;

/**
 * Percent-encoding in one form (RFC 3986 §6.2.2.1, §6.2.2.2): capital hex digits, no unreserved character encoded, and
 * every other one that may not stand there. A percent sign that begins no code is one of those.
 */
const encodedOnce = (text: string): string =>
  text.replace(tokens, (found: string, hex: string | undefined) => {
    if (hex === undefined) return encodeURIComponent(found);
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return unreserved.test(character) ? character : found.toUpperCase();
  });

/** The parts of RFC 3986 Appendix B, without a fragment. */
const parts = /^([^:]+):(?:\/\/([^/?]*))?([^?]*)(.*)$/s;

function canonicalGeneric(text: string): string | null {
  const [, scheme = '', authority, path = '', query = ''] = parts.exec(text) ?? [];
  if (scheme === '') return null;
  const start = authority === undefined ? '' : `//${canonicalAuthority(authority)}`;
  const whole = authority !== undefined && path === '' ? '/' : path;
  const short = whole.startsWith('/') ? withoutDots(whole) : whole;
  // Without it, the path would begin as an authority does.
  const guarded = start === '' && short.startsWith('//') ? `/.${short}` : short;
  return `${foldCase(scheme)}:${start}${guarded}${query}`;
}

function canonicalAuthority(authority: string): string {
  const at = authority.lastIndexOf('@') + 1;
  let end = authority.length;
  while (end > at && authority[end - 1] === ':') end -= 1;
  const host = authority
    .slice(at, end)
    .replace(/%..|[A-Z]+/gs, (some) => (some.startsWith('%') ? some : foldCase(some)));
  return authority.slice(0, at) + host;
}

/** RFC 3986 §5.2.4 */
function withoutDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const isDots = segment === '.' || segment === '..';
    if (segment === '..') kept.pop();
    if (!isDots) kept.push(segment);
    else if (index === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
}
