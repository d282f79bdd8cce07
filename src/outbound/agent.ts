import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { resolvePublic } from './address.ts';
import type { ResolveHost } from './dns.ts';
import { lookupBy } from './lookup.ts';

/** The most bytes that the other side may send in answer to a request, whatever they are. */
export const maxReceivedBytes = 512 * 1024;

/** The other side sent more than {@link maxReceivedBytes}. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
  constructor() {
    super(`the other side sent more than ${maxReceivedBytes / 1024} KiB`);
  }
}

/**
 * Ends a connection on which too much arrives after what was last sent. Counts what a client library hides: interim
 * answers, headers, the framing of chunks. A receiver could send those for ever.
 */
function boundReceived(socket: Socket): void {
  let sent = socket.bytesWritten;
  let before = socket.bytesRead;
  let received = before;
  socket.on('readable', () => {
    if (socket.bytesWritten !== sent) {
      sent = socket.bytesWritten;
      before = received;
    }
    received = socket.bytesRead;
    if (received - before > maxReceivedBytes) socket.destroy(new AnswerTooLong());
  });
}

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
  const connectTo = buildConnector({ lookup, timeout: timeoutMs, allowH2: false });
  const connect: typeof connectTo = (to, callback) =>
    connectTo(to, (...result) => {
      const [, socket] = result;
      if (socket) boundReceived(socket);
      callback(...result);
    });

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
