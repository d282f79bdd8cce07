import { domainToASCII, domainToUnicode } from 'node:url';
import { composed, withoutSpaceAround } from './typed.ts';

const maxDomainLength = 253;
// RFC 1035 §2.3.1, with the digits that RFC 1123 §2.1 adds.
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const ofLabels = new RegExp(`^${label}(?:\\.${label})*$`);
const encoded = /(?:^|\.)xn--/;
const beyondAscii = /[\u0080-\u{10ffff}]/u;
// ASCII but letters, digits, hyphens and dots (UTS 46, "UseSTD3ASCIIRules").
const forbidden = /[\0-,/:-@[-`{-\x7f]/;

/**
 * The one spelling of a domain, whether it was typed in Unicode or in its ASCII form (UTS 46, non-transitional): in
 * Unicode, because browsers turn what people type into the ASCII form; in lower case. Null if it is no domain.
 */
export function readDomain(typed: string): string | null {
  const domain = withoutSpaceAround(typed);
  // The functions of node:url read the hosts of URLs, where "%41" is a letter, "/" an end and "1.2" an IP address.
  if (domain.length > maxDomainLength || forbidden.test(domain)) return null;
  const lower = domain.toLowerCase();
  if (!beyondAscii.test(domain) && !encoded.test(lower)) return ofLabels.test(lower) ? lower : null;
  const ascii = domainToASCII(domain);
  if (ascii.length > maxDomainLength || !ofLabels.test(ascii) || /(?:^|\.)\d+$/.test(ascii))
    return null;
  const unicode = domainToUnicode(ascii);
  const isDomain =
    // They let labels pass that only look encoded.
    !encoded.test(unicode) &&
    domainToASCII(unicode) === ascii &&
    !/(?:^|\.)-|-(?:\.|$)/.test(unicode) &&
    !forbidden.test(unicode.normalize('NFD'));
  return isDomain ? unicode : null;
}

const atOf = (address: string) => address.lastIndexOf('@') + 1;

/** The domain of an e-mail address, in its one spelling; as it is if it is no domain. */
export function domainOf(address: string): string {
  const domain = address.slice(atOf(address));
  return readDomain(domain) ?? domain;
}

/** An e-mail address that was typed, in the one spelling of its parts; as it is if it has no domain. */
export function mailAddress(typed: string): string {
  const address = withoutSpaceAround(typed);
  const at = atOf(address);
  return at === 0 ? address : `${spellLocal(address.slice(0, at - 1))}@${domainOf(address)}`;
}

/**
 * The one spelling of a local part, but for the case of A to Z: in composed form, and in lower case if a letter outside
 * ASCII is a capital. Databases fold A to Z alone, so that all of them fold alike.
 */
export function spellLocal(typed: string): string {
  if (!beyondAscii.test(typed)) return typed;
  const local = composed(typed);
  // NFC makes the Kelvin sign a K. Nobody who has one of these addresses has shown that they have the other.
  if (!beyondAscii.test(local)) return typed;
  const letters = local.replaceAll(/[\0-\x7F]/g, '');
  if (letters === letters.toLowerCase()) return local;
  // Word by word: a sigma at the end of one is another letter, and toLowerCase() takes "ΝΙΚΟΣ.Π" for one word.
  return composed(local.replaceAll(/[^!-@[-`{-~]+/g, (word) => word.toLowerCase()));
}

/** Whether only a server with SMTPUTF8 takes mail to this address: its local part is outside ASCII (RFC 6531 §3.2). */
export const needsSmtpUtf8 = (address: string): boolean =>
  beyondAscii.test(address.slice(0, atOf(address)));

// RFC 5321 §4.5.3.1.1 and §4.5.3.1.3, without the angle brackets of a path; in bytes (RFC 6531 §3.1).
const maxLocalBytes = 64;
const maxAddressBytes = 254;
// Joiners are letters of Persian and of Indian scripts, and a pictograph may be followed by the sign that gives it colour.
// What else is not seen, not assigned or no character is refused: later versions of Unicode may compose it otherwise.
const atom = String.raw`(?:[\w!#$%&'*+/=?^{|}~\x60\u200C\u200D-]|(?<=\p{ExtPict})\uFE0F|[^\0-\x7F\p{C}\p{Z}\p{DI}])+`;
const dotAtom = new RegExp(String.raw`^${atom}(?:\.${atom})*$`, 'u');

/**
 * Whether the local part of an address that {@link needsSmtpUtf8} can be one (RFC 6531 §3.3), without quotes. The
 * domain is not looked at.
 */
export function hasNonAsciiLocal(address: string): boolean {
  const at = atOf(address);
  const local = address.slice(0, Math.max(at - 1, 0));
  return (
    Buffer.byteLength(local) <= maxLocalBytes &&
    dotAtom.test(local) &&
    local === composed(local) &&
    Buffer.byteLength(asciiAddress(address)) <= maxAddressBytes
  );
}

/** A domain in its ASCII form, as mail needs it; as it is if it is no domain. */
export function asciiDomain(domain: string): string {
  const known = readDomain(domain) ?? domain;
  return beyondAscii.test(known) ? domainToASCII(known) || known : known;
}

/** An e-mail address in the form in which mail goes out; a telephone number stays as it is. */
export function asciiAddress(address: string): string {
  const at = atOf(address);
  return at === 0 ? address : address.slice(0, at) + asciiDomain(address.slice(at));
}
