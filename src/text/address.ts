import { domainToASCII, domainToUnicode } from 'node:url';
import { withoutSpaceAround } from './typed.ts';

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

/** An e-mail address that was typed, with the one spelling of its domain; as it is if it has no domain. */
export function mailAddress(typed: string): string {
  const address = withoutSpaceAround(typed);
  const at = atOf(address);
  return at === 0 ? address : address.slice(0, at) + domainOf(address);
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
