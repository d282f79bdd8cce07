import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An application that people return to. It answers every request with a page. */
export interface ApplicationServer {
  readonly redirectUri: string;
  stop(): Promise<void>;
}

/** Starts an application on its own port. */
export async function startApplicationServer(): Promise<ApplicationServer> {
  const server = createServer((request, response) => {
    response
      .writeHead(request.url === '/favicon.ico' ? 204 : 200, {
        'content-type': 'text/html; charset=utf-8',
      })
      .end('<!doctype html><html lang="en"><title>The application</title><h1>Welcome</h1>');
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
