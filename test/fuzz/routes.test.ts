import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { patienceMs } from '../support/peers/patience.ts';
import { fuzz, type Gen, numberBelow, pick, rarely, several } from './drawing/fuzz.ts';
import { damaged, hostileJson, hostileText } from './drawing/values.ts';
import { withRoutes } from './routes.ts';
import type { Request } from './send.ts';
import { createWorld } from './world.ts';

const [{ service, admin, account, ask, ids: readIds, fixture }, routes] =
  await withRoutes(createWorld);
const ids = await readIds();

test('every door is among the routes', () => {
  const urls = routes.map(({ url }) => url);
  expect(urls).toEqual(
    expect.arrayContaining(['/graphql', '/oidc/token', '/api/users', '/healthz']),
  );
  expect(urls.length).toBeGreaterThan(150);
});

// Node takes these itself, or they change the connection.
const methods = METHODS.filter((method) => method !== 'CONNECT');
const safe = (text: string) => encodeURIComponent(text.toWellFormed());
const oneOf = (g: Gen, given: readonly string[]) =>
  rarely(g, 3) ? hostileText(g) : pick(g, given);

function pathOf(g: Gen, url: string): string {
  const filled = url.replaceAll(/:\w+|\*/g, () =>
    rarely(g, 3) ? hostileText(g).slice(0, 200) : safe(oneOf(g, ids)).slice(0, 900),
  );
  // A path that does not begin with a slash never gets past Node.
  if (rarely(g, 6)) return `/${damaged(g, filled.slice(1))}`.slice(0, 3000);
  return filled;
}

const names = [
  'first',
  'after',
  'query',
  'variables',
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'id',
  'token',
  'to',
  'prompt',
  'ui_locales',
  'id_token_hint',
  'post_logout_redirect_uri',
  'code',
  'code_challenge',
  'request',
  'request_uri',
  'claims',
  'resource',
  'max_age',
  'login_hint',
  'error',
];

function queryOf(g: Gen): string {
  const parts = several(g, 4, () => {
    const name = rarely(g, 4) ? hostileText(g) : pick(g, names);
    const value = name === 'client_id' && !rarely(g, 3) ? fixture.client.id : hostileText(g);
    return rarely(g, 5) ? `${name}=${value}` : `${safe(name)}=${safe(value)}`;
  });
  return parts.length === 0 ? '' : `?${parts.join('&')}`.slice(0, 9000);
}

const headerNames = [
  'accept',
  'accept-language',
  'accept-encoding',
  'origin',
  'referer',
  'cookie',
  'content-type',
  'content-encoding',
  'range',
  'if-none-match',
  'if-modified-since',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
  'traceparent',
  'x-request-id',
  'x-signet-console',
  'x-signet-experience',
  'sec-fetch-site',
  'access-control-request-method',
  'authorization',
  'user-agent',
  'dpop',
];
const headerValues = [
  '*/*',
  'text/html',
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=',
  'text/event-stream',
  'gzip',
  'null',
  'de',
  'q=0',
  'bytes=9-1',
  '__proto__',
  'same-origin',
  '1',
];

function headersOf(g: Gen): Record<string, string> {
  return Object.fromEntries([
    ...several(g, 4, () => [pick(g, headerNames), oneOf(g, headerValues).slice(0, 2000)]),
    ...(rarely(g, 3) ? [['authorization', `Bearer ${pick(g, [admin, account])}`]] : []),
    ...(rarely(g, 2)
      ? [['content-type', pick(g, ['application/json', 'application/x-www-form-urlencoded'])]]
      : []),
  ]);
}

function bodyOf(g: Gen): string | Buffer {
  switch (numberBelow(g, 4)) {
    case 0:
      return JSON.stringify(hostileJson(g));
    case 1:
      return queryOf(g).slice(1);
    case 2:
      return Buffer.from([0xff, 0xfe, 0x00, 0xc0, 0x80, 0xed, 0xa0, 0x80]);
    default:
      return hostileText(g);
  }
}

/** Whether the answer may be a stream, which never ends. */
const isStream = ({ headers = {} }: Request) =>
  Object.values(headers).includes('text/event-stream');

fuzz('every route answers a hostile request in its form', 300, async (g) => {
  const route = pick(g, routes);
  const method = rarely(g, 5) ? pick(g, methods) : route.method;
  const hasBody = !['GET', 'HEAD'].includes(method) || rarely(g, 10);
  const request: Request = {
    method,
    path: pathOf(g, route.url) + queryOf(g),
    headers: headersOf(g),
    ...(hasBody ? { body: bodyOf(g) } : {}),
  };
  if (!isStream(request)) await ask(request);
});

const lines = [
  'GET / HTTP/1.1\r\n',
  'POST /graphql HTTP/1.1\r\n',
  'GET /\0 HTTP/1.1\r\n',
  'GET http://[ HTTP/1.1\r\n',
  'GET  / HTTP/9.9\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00',
  'GET /%ff%fe HTTP/1.1\r\n',
  'OPTIONS * HTTP/1.1\r\n',
  'GET //evil.example.com/%2e%2e HTTP/1.1\r\n',
  'CONNECT a:1 HTTP/1.1\r\n',
  'DELETE /api/users/\xff HTTP/1.0\r\n',
];
const fields = [
  'Host: a\r\n',
  'Host: a\r\nHost: b\r\n',
  'Host: [\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 1\r\nContent-Length: 2\r\n',
  'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n',
  'Content-Type: application/json\r\n',
  'Expect: 200-ok\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'Upgrade: h2c\r\nConnection: Upgrade\r\n',
  ' folded\r\n',
  'no colon\r\n',
  'a\0b: c\r\n',
  `Cookie: ${'a=b; '.repeat(4000)}\r\n`,
];

/** Writes bytes, says that no more come, and returns what comes back until the connection ends. */
function exchangeBytes(bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: hostname, timeout: patienceMs });
    let text = '';
    socket.on('timeout', () => socket.destroy(new Error('The connection hangs.')));
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      ['ECONNRESET', 'EPIPE'].includes(String(error.code)) ? resolve(text) : reject(error),
    );
    socket.on('close', () => resolve(text));
    socket.end(bytes);
  });
}

fuzz('bytes that are no HTTP are refused or the connection ends', 75, async (g) => {
  const text =
    pick(g, lines) +
    several(g, 4, () => pick(g, fields)).join('') +
    pick(g, ['\r\n', '', `\r\n${hostileText(g)}`]);
  const sent = rarely(g, 6) ? damaged(g, text) : text;
  const answer = await exchangeBytes(Buffer.from(sent, 'latin1'));
  expect(answer, JSON.stringify(sent)).toMatch(/^(?:$|HTTP\/1\.[01] [1-4]\d\d )/);
});
