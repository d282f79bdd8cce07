import type { Address } from '../address.ts';

const addresses = new Map<string, Address>();

/** Notes the parameters that a list has in the address, so that a record can lead back to the same rows. */
export const noteSeen = (path: string, address: Address): void => void addresses.set(path, address);

/** The parameters that a list last had in this tab. */
export const lastSeen = (path: string): Record<string, string> =>
  (addresses.get(path) ?? {}) as Record<string, string>;
