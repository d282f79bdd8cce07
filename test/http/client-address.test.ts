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

// Azure Application Gateway adds the port of the connection; RFC 7239 §6 writes IPv6 in brackets and in quotes.
test.each([
  ['203.0.113.2:4711', '203.0.113.2'],
  ['198.51.100.7, 203.0.113.2:80', '203.0.113.2'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['"[2001:db8::1]:4711"', '2001:db8::1'],
  ['2001:db8::4711', '2001:db8::4711'],
  ['unknown', 'unknown'],
])('a client that a proxy names %s is %s', (forwarded, expected) => {
  expect(address(1, '192.0.2.9', forwarded)).toBe(expected);
});

test('a proxy that is named with a port is believed by its network', () => {
  const forwarded = '203.0.113.1:4711, 198.51.100.7:80';
  expect(address(['192.0.2.0/24', '198.51.100.0/24'], '192.0.2.9', forwarded)).toBe('203.0.113.1');
});

test('an IPv6 client is its /64, an IPv4 client itself', () => {
  const client = (remote: string) => clientOf(address(false, remote));
  expect(client('2001:db8::1')).toBe(client('2001:db8::ffff:2'));
  expect(client('2001:db8:0:1::1')).not.toBe(client('2001:db8::1'));
  expect(client('::ffff:192.0.2.1')).toBe('192.0.2.1');
});
