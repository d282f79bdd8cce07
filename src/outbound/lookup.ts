import { isIP, type LookupFunction } from 'node:net';
import type { ResolveHost } from './dns.ts';

/** The lookup function of sockets, by our own resolver. */
export const lookupBy =
  (resolve: ResolveHost): LookupFunction =>
  (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = found;
        if (all) callback(null, found);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
