import { type IncomingHttpHeaders, request } from 'node:http';
import { patienceMs } from '../support/peers/patience.ts';

/** A request as it is written to the socket. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

/** A text as a header can carry it. */
export const headerText = (text: string): string =>
  bytes(text).replace(/[^\t\x20-\x7e\x80-\xff]/g, '');

/** A text as a request line can carry it. */
const pathText = (text: string): string =>
  bytes(text).replace(
    /[^\x21-\x7e]/g,
    (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );

let count = 0;

/** An address that has not sent anything yet, so that no limit on failures answers. */
export function freshAddress(): string {
  count += 1;
  return `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
}

/** Sends a request unchanged, each from an address of its own. */
export function send(
  { url }: { readonly url: string },
  { method, path, headers = {}, body }: Request,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const sent = Object.entries(headers).map(([name, value]) => [name, headerText(value)]);
  // Node’s client announces no body of a GET, and the body would look like a second request.
  if (body !== undefined) sent.push(['content-length', String(Buffer.byteLength(body))]);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        hostname,
        port,
        method,
        path: pathText(path),
        agent: false,
        headers: { 'x-forwarded-for': freshAddress(), ...Object.fromEntries(sent) },
        signal: AbortSignal.timeout(patienceMs),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

/** A GraphQL request with a token. */
export const graphqlRequest = (path: string, body: unknown, token?: string): Request => ({
  method: 'POST',
  path,
  headers: {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** A form with the client's credentials. */
export const formRequest = (
  path: string,
  authorization: string,
  form: Readonly<Record<string, string>>,
): Request => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/x-www-form-urlencoded', authorization },
  body: new URLSearchParams(form).toString(),
});
