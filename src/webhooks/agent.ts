import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { ResolveHost } from '../dns.ts';
import { resolvePublic } from './address.ts';

/**
 * Makes the HTTP client of webhooks. Each new connection goes to an address that was checked in the same step that
 * connects, so a name that resolves to something else than at registration gains nothing.
 *
 * @param options.allowPrivate Whether private addresses are allowed after all.
 */
export function createAgent(options: {
  allowPrivate: boolean;
  resolveHost: ResolveHost;
  timeoutMs: number;
}): Agent {
  const { allowPrivate, resolveHost, timeoutMs } = options;
  const resolve = allowPrivate ? resolveHost : resolvePublic.bind(undefined, resolveHost);

  const lookup: LookupFunction = (hostname, { all }, callback) => {
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
  const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false });

  return new Agent({
    connect(to, callback) {
      // A literal address is not looked up.
      const literal = to.hostname.replace(/^\[|\]$/g, '');
      if (allowPrivate || isIP(literal) === 0) return connect(to, callback);
      resolvePublic(resolveHost, literal).then(
        () => connect(to, callback),
        (error: Error) => callback(error, null),
      );
    },
    // The attempt has one bound over all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
