import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeAtEnd } from '../support/cleanup.ts';

/** A request to the service, with its answer. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** Of the query and of the form. */
  readonly parameters: URLSearchParams;
  readonly authorization: string | undefined;
  readonly status: number;
  /** The answer's `WWW-Authenticate`. */
  readonly challenge: string | undefined;
  /** The answer as text. */
  readonly answer: string;
}

/** Stands between the service and its clients, and notes what they say to each other. */
export interface Wire {
  /** The service's public address. */
  readonly url: string;
  /** Everything so far, in the order of the answers. */
  readonly exchanges: readonly Exchange[];
  /** Passes requests on to the service at this address from now on. */
  leadTo(url: string): void;
}

/** Opens a wire; it closes with the file. */
export async function openWire(): Promise<Wire> {
  const exchanges: Exchange[] = [];
  let target = '';

  async function passOn(incoming: IncomingMessage) {
    const { method = '', url = '', headers } = incoming;
    const body = await buffer(incoming);
    const outgoing = forward(new URL(url, target), { method, headers });
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const content = await buffer(response);
    const { pathname, searchParams } = new URL(url, target);
    exchanges.push({
      method,
      path: pathname,
      parameters: new URLSearchParams([...searchParams, ...new URLSearchParams(String(body))]),
      authorization: headers.authorization,
      status: response.statusCode ?? 0,
      challenge: response.headers['www-authenticate'],
      answer: String(content),
    });
    return { response, content };
  }

  const server = createServer((incoming, answer) => {
    passOn(incoming).then(
      ({ response, content }) => {
        // How long the service keeps a connection says nothing about this one.
        const { connection, 'keep-alive': keepAlive, ...headers } = response.headers;
        answer.writeHead(response.statusCode ?? 502, headers).end(content);
      },
      () => answer.destroy(),
    );
  });
  // A client that comes back on a busy machine finds its connection as it left it.
  server.keepAliveTimeout = 0;
  server.listen(0, 'localhost');
  await once(server, 'listening');
  closeAtEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    exchanges,
    leadTo(url) {
      target = url;
    },
  };
}
