import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ResolveHost } from '../dns.ts';

/** The address that a webhook's host stands for is none to post to. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

const globalUnicast = ipaddr.IPv6.parse('2000::');

/**
 * Whether an IP address belongs to the public Internet. What stands for another address inside IPv6 (mapped,
 * NAT64, 6to4, Teredo) is not one: it may lead to a private address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  // What is not assigned to anyone is "unicast" too, such as the old IPv4-compatible ::127.0.0.1 (RFC 4291 §2.5.5.1).
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast, 3);
}

/** The host of a URL as sockets take it: an IPv6 address without its brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/**
 * Finds the addresses of a host, every one of which must be public: a name that leads to a private address as well
 * is not half to be trusted.
 *
 * @throws {AddressRefused}
 */
export async function resolvePublic(
  resolveHost: ResolveHost,
  host: string,
): Promise<readonly string[]> {
  const addresses = isIP(host) ? [host] : await resolveHost(host);
  if (addresses.length === 0 || !addresses.every(isPublicAddress)) {
    throw new AddressRefused('the host does not have a public address');
  }
  return addresses;
}
