import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { closeAtEnd } from '../cleanup.ts';
import { selfSigned } from '../peers/self-signed.ts';
import { redirectUri } from '../people/sign-in-fixture.ts';

type Answer = (response: ServerResponse) => void;

/** A host of metadata documents, by https. While it runs, this process trusts its certificate. */
export async function startDocumentServer() {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, selfSigned.cert]);
  closeAtEnd(async () => setDefaultCACertificates(trusted));
  const answers = new Map<string, Answer>();
  const asked = new Map<string, number>();
  const server = createServer(selfSigned, ({ url = '' }, response) => {
    asked.set(url, (asked.get(url) ?? 0) + 1);
    const answer = answers.get(url);
    if (answer) answer(response);
    else response.writeHead(404).end();
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  const host = `localhost:${port}`;
  let count = 0;
  const pathOf = (id: string) => id.slice(`https://${host}`.length);

  return {
    host,
    /** The id of a new client, whose document is there with these members. */
    client(members: Record<string, unknown> = {}, headers: Record<string, string> = {}): string {
      count += 1;
      const id = `https://${host}/client-${count}.json`;
      this.describe(id, members, headers);
      return id;
    },
    /** Changes what the document says. */
    describe(id: string, members: Record<string, unknown>, headers: Record<string, string> = {}) {
      const document = {
        client_id: id,
        client_name: 'Agent',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        ...members,
      };
      this.answer(id, (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify(document)),
      );
    },
    /** Changes how the document is answered. */
    answer: (id: string, answer: Answer) => void answers.set(pathOf(id), answer),
    /** How often the document was asked for. */
    asked: (id: string): number => asked.get(pathOf(id)) ?? 0,
    /** How often anything was asked for. */
    askedInAll: (): number => [...asked.values()].reduce((sum, count) => sum + count, 0),
  };
}
