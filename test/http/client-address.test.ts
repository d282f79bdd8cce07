import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { clientAddress, type TrustProxy } from '../../src/http/client-address.ts';
import { clientOf } from '../../src/protection/addresses.ts';

const address = (trustProxy: TrustProxy, remoteAddress: string, forwarded?: string) =>
  clientAddress(trustProxy)({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage);

test.each<[TrustProxy, string]>([
  [false, '192.0.2.9'],
  [1, '203.0.113.2'],
  [2, '203.0.113.1'],
  [['192.0.2.0/24'], '203.0.113.2'],
  ['192.0.2.0/24, 203.0.113.2', '203.0.113.1'],
])('a client behind proxies, of which %j are believed, is %s', (trustProxy, expected) => {
  expect(address(trustProxy, '192.0.2.9', '203.0.113.1, 203.0.113.2')).toBe(expected);
});

test('an IPv6 client is its /64, an IPv4 client itself', () => {
  const client = (remote: string) => clientOf(address(false, remote));
  expect(client('2001:db8::1')).toBe(client('2001:db8::ffff:2'));
  expect(client('2001:db8:0:1::1')).not.toBe(client('2001:db8::1'));
  expect(client('::ffff:192.0.2.1')).toBe('192.0.2.1');
});
