import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyServerOptions } from 'fastify';

/** The trusted proxies in Fastify's format: a number of hops, or networks. */
export type TrustProxy = NonNullable<FastifyServerOptions['trustProxy']> | number;

type Trust = (address: string, hop: number) => boolean;

/** Makes a function that says whether an address, a number of hops away, is a trusted proxy. */
export function trustOf(trustProxy: TrustProxy): Trust {
  if (typeof trustProxy === 'function') return trustProxy;
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  const networks = typeof trustProxy === 'string' ? trustProxy.split(',') : trustProxy;
  return proxyAddr.compile(networks.map((network) => network.trim()));
}

const withPort = /^"?(?:(\d+(?:\.\d+){3})|\[([\da-f:.]+)\])(?::\d+)?"?$/i;

/**
 * Leaves the addresses alone in a request's `X-Forwarded-For`. Some proxies name the port too (Azure Application Gateway
 * does), which is another one with each connection: each would count as another client, and no network would have it.
 */
export function dropForwardedPorts({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const forwarded = headers['x-forwarded-for'];
  if (typeof forwarded !== 'string' || !/[:"[]/.test(forwarded)) return;
  headers['x-forwarded-for'] = forwarded
    .split(',')
    .map((named) => named.trim().replace(withPort, '$1$2'))
    .join(', ');
}

/** Makes a function that finds the client's address of requests that Fastify does not handle. */
export function clientAddress(trustProxy: TrustProxy): (request: IncomingMessage) => string {
  const trust = trustOf(trustProxy);
  return (request) => {
    dropForwardedPorts(request);
    return proxyAddr(request, trust);
  };
}
