import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ResolveHost } from './dns.ts';

/** The host's address must not be posted to. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

const globalUnicast = ipaddr.IPv6.parse('2000::');

/**
 * Whether an IP address belongs to the public Internet. An IPv6 address that embeds another address (mapped, NAT64,
 * 6to4, Teredo) does not count: it may lead to a private one.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  // Unassigned ranges count as "unicast" too, such as the old IPv4-compatible ::127.0.0.1 (RFC 4291 §2.5.5.1).
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast, 3);
}

/** The host of a URL in the form that sockets need: an IPv6 address without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/**
 * Finds the addresses of a host. All of them must be public: a name that also leads to a private address is refused.
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
