import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { resolvePublic } from './address.ts';
import type { ResolveHost } from './dns.ts';
import { lookupBy } from './lookup.ts';

/**
 * Makes the HTTP client for URLs that administrators set. The same step checks an address and connects to it, so a name
 * that resolves differently later gains nothing.
 *
 * @param options.allowPrivate Whether private addresses are allowed.
 */
export function createAgent(options: {
  allowPrivate: boolean;
  resolveHost: ResolveHost;
  timeoutMs: number;
}): Agent {
  const { allowPrivate, resolveHost, timeoutMs } = options;
  const resolve = allowPrivate ? resolveHost : resolvePublic.bind(undefined, resolveHost);

  const lookup = lookupBy(resolve);
  const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false });

  return new Agent({
    connect(to, callback) {
      // A literal address is never looked up.
      const literal = to.hostname.replace(/^\[|\]$/g, '');
      if (allowPrivate || isIP(literal) === 0) return connect(to, callback);
      resolvePublic(resolveHost, literal).then(
        () => connect(to, callback),
        (error: Error) => callback(error, null),
      );
    },
    // One timeout covers the whole attempt.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
