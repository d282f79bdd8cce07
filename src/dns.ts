import { lookup } from 'node:dns/promises';

/** Finds the addresses of a host; it fails where there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Asks the machine's resolver. */
export const systemResolver: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);
