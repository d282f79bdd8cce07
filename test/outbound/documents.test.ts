import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Documents, lifetimeOf } from '../../src/outbound/documents.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createTestClock } from '../support/service.ts';

let answer: { status: number; headers?: Record<string, string>; body: string };
let asked = 0;
const server = createServer((_request, response) => {
  asked += 1;
  response.writeHead(answer.status, answer.headers ?? {}).end(answer.body);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
closeAtEnd(async () => {
  server.closeAllConnections();
  server.close();
});
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

function open(allowPrivateWebhooks = true) {
  const clock = createTestClock();
  clock.freeze();
  const surroundings = {
    clock,
    config: { allowPrivateWebhooks },
    resolveHost: async () => ['10.0.0.1'],
  };
  asked = 0;
  return { clock, documents: new Documents(surroundings, (json) => json as { n: number }) };
}
const nothingMissing = () => false;

describe('documents', () => {
  test('are kept as long as their server says, and no failure for long', async () => {
    const { clock, documents } = open();
    answer = { status: 200, headers: { 'cache-control': 'max-age=600' }, body: '{"n":1}' };
    expect(await documents.find(url, nothingMissing)).toEqual({ n: 1 });
    answer = { status: 500, body: '' };
    clock.advance(599_999);
    expect(await documents.find(url, nothingMissing)).toEqual({ n: 1 });
    expect(asked).toBe(1);
    clock.advance(1);
    expect(await documents.find(url, nothingMissing)).toBeUndefined();
    expect(await documents.find(url, nothingMissing)).toBeUndefined();
    expect(asked).toBe(2);
    clock.advance(10_000);
    answer = { status: 200, body: '{"n":2}' };
    expect(await documents.find(url, nothingMissing)).toEqual({ n: 2 });
  });

  test('are kept if a further fetch fails', async () => {
    const { documents } = open();
    answer = { status: 200, body: '{"n":1}' };
    await documents.find(url, nothingMissing);
    answer = { status: 500, body: '' };
    expect(await documents.find(url, () => true)).toEqual({ n: 1 });
    expect(asked).toBe(2);
  });

  test.each([
    ['a redirect', { status: 302, headers: { location: '/' }, body: '{}' }],
    ['no JSON', { status: 200, body: 'hello' }],
    ['more than 64 KiB', { status: 200, body: JSON.stringify({ n: 'x'.repeat(66_000) }) }],
    ['another status', { status: 203, body: '{}' }],
  ])('are refused if it is %s', async (_what, given) => {
    const { documents } = open();
    answer = given;
    expect(await documents.find(url, nothingMissing)).toBeUndefined();
    expect(asked).toBe(1);
  });

  test('are never fetched from inside, nor over http', async () => {
    const { documents } = open(false);
    answer = { status: 200, body: '{}' };
    for (const inside of [url, url.replace('http:', 'https:'), 'https://name.example.com/'])
      expect(await documents.find(inside, nothingMissing)).toBeUndefined();
    expect(asked).toBe(0);
  });
});

test.each<[Record<string, string>, number]>([
  [{}, 300],
  [{ 'cache-control': 'max-age=10' }, 300],
  [{ 'cache-control': 'public, max-age=3600' }, 3600],
  [{ 'cache-control': 'max-age=3600', age: '600' }, 3000],
  [{ 'cache-control': 'max-age=99999999' }, 86_400],
  [{ 'cache-control': 'max-age=3600, no-cache' }, 300],
  [{ 'cache-control': 'no-store' }, 300],
  [{ 'cache-control': 'x-max-age=3600' }, 300],
  [{ expires: new Date(7_200_000).toUTCString() }, 7200],
])('an answer with %j is kept for %d s', (headers, seconds) => {
  expect(lifetimeOf(new Headers(headers), new Date(0))).toBe(seconds * 1000);
});
