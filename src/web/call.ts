import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { RequestCall } from '../services.ts';

/** Enough for every browser's. Each event of a request keeps it. */
const maxUserAgent = 512;

/** The `User-Agent` header, cut off; null without one. */
export const userAgentIn = ({ 'user-agent': header }: IncomingHttpHeaders): string | null =>
  header?.slice(0, maxUserAgent) ?? null;

/** Where a request comes from. */
export const callOf = ({ id, ip, headers }: FastifyRequest): RequestCall => ({
  traceId: id,
  ip,
  userAgent: userAgentIn(headers),
});
