import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An application that people return to. It answers every request with a page. */
export interface ApplicationServer {
  readonly redirectUri: string;
  stop(): Promise<void>;
}

const welcome = '<!doctype html><html lang="en"><title>The application</title><h1>Welcome</h1>';

/** What an application does other than show a page. */
export interface ApplicationConduct {
  /** Where it sends a browser that posts something to it. */
  readonly leadsTo?: string;
  /** The page that it shows under each path of these. */
  readonly pages?: Readonly<Record<string, string>>;
}

/** Starts an application on its own port. */
export async function startApplicationServer({
  leadsTo,
  pages = {},
}: ApplicationConduct = {}): Promise<ApplicationServer> {
  const server = createServer((request, response) => {
    if (request.method === 'POST' && leadsTo !== undefined) {
      response.writeHead(303, { location: leadsTo }).end();
      return;
    }
    response
      .writeHead(request.url === '/favicon.ico' ? 204 : 200, {
        'content-type': 'text/html; charset=utf-8',
      })
      .end(pages[request.url ?? ''] ?? welcome);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    redirectUri: `http://127.0.0.1:${port}/callback`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
