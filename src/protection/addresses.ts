import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { secondsUntil } from '../clock.ts';
import { runPrepared } from '../db/sql.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Services } from '../services.ts';
import { keyedDigest } from './keyed-digest.ts';

/** How much of each one client address may cause: requests, failures, documents that are read for it, applications. */
export const addressLimits = {
  request: { most: 300, windowSeconds: 60 },
  failure: { most: 100, windowSeconds: 600 },
  document: { most: 10, windowSeconds: 60 },
  registration: { most: 20, windowSeconds: 3600 },
} as const;

type Kind = keyof typeof addressLimits;
type Counting = Pick<Services, 'database' | 'clock' | 'cipher'>;

// The addresses over a limit that this process knows. It refuses them without a query.
const shut = new WeakMap<Services['cipher'], Map<string, Date>>();
const maxShut = 10_000;

/**
 * The part of an address that stands for one client: for IPv6 the /64 network, because one client has all of it (RFC
 * 6177 §2).
 */
export function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString();
}

/**
 * How long a client address must wait after too many failures; undefined if it need not. Makes no query: a node that
 * does not know the address yet learns it at the next failure.
 */
export function failureWait(services: Counting, address: string): number | undefined {
  // Where no address is over a limit, none is read.
  return shut.has(services.cipher) ? waitOf(services, 'failure', clientOf(address)) : undefined;
}

/**
 * Counts a failed proof (a password, a code, a client's secret) against the client's address. The count is in the
 * database, so nodes share it.
 */
export async function noteFailure(
  services: Counting & Pick<Services, 'log'>,
  address: string,
): Promise<void> {
  try {
    await count(services, 'failure', clientOf(address));
  } catch (error) {
    // The failure itself is still answered.
    services.log.warn({ err: error }, 'a failed request could not be counted');
  }
}

/**
 * Counts requests to a scope's routes by client address. Refuses addresses with too many requests or too many failures.
 *
 * @param refuse Answers with 429; the `Retry-After` header is already set.
 */
export function limitAddresses(
  scope: FastifyInstance,
  services: Counting,
  refuse: (reply: FastifyReply, request: FastifyRequest) => unknown,
): void {
  async function refuseFor(wait: number | undefined, request: FastifyRequest, reply: FastifyReply) {
    if (wait === undefined) return undefined;
    reply.header('retry-after', wait);
    await refuse(reply.code(429), request);
    return reply;
  }
  scope.addHook('onRequest', async (request, reply) => {
    const client = clientOf(request.ip);
    const wait = waitOf(services, 'failure', client) ?? waitOf(services, 'request', client);
    return refuseFor(wait, request, reply);
  });
  // Only once the request has its turn: counting is a statement. What this hook returns would be taken for a body.
  scope.addHook('preParsing', async (request, reply) => {
    await refuseFor(await count(services, 'request', clientOf(request.ip)), request, reply);
  });
}

/**
 * Takes one of what a client address may cause in a window.
 *
 * @returns The seconds to wait if there is none left.
 */
export async function takeShare(
  services: Counting,
  kind: 'document' | 'registration',
  address: string,
): Promise<number | undefined> {
  const client = clientOf(address);
  return waitOf(services, kind, client) ?? (await count(services, kind, client));
}

/** One atomic upsert. Returns the seconds to wait if the limit is reached. */
async function count(services: Counting, kind: Kind, client: string): Promise<number | undefined> {
  const { database, clock, cipher } = services;
  const { most, windowSeconds } = addressLimits[kind];
  const now = clock.now();
  const end = new Date(now.getTime() + windowSeconds * 1000);
  const statement = Prisma.sql`
    INSERT INTO "AddressCount" AS c ("address", "kind", "count", "expiresAt")
    VALUES (${keyedDigest(cipher, 'client-address', [client])}::bytea, ${kind}, 1, ${end}::timestamptz)
    ON CONFLICT ("address", "kind") DO UPDATE SET
      "count" = CASE WHEN c."expiresAt" <= ${now}::timestamptz THEN 1 ELSE least(c."count", 1000000) + 1 END,
      "expiresAt" = CASE WHEN c."expiresAt" <= ${now}::timestamptz THEN EXCLUDED."expiresAt"
                         ELSE c."expiresAt" END
    RETURNING "count", "expiresAt"`;
  const [row] = await runPrepared<{ count: number; expiresAt: Date }>(
    database.sql,
    'address-count',
    statement,
  );
  if (!row) throw new Error('An upsert gave no row.');
  // The last request of a window is still answered. After the last failure, nothing is.
  const isOver = kind === 'failure' ? row.count >= most : row.count > most;
  if (!isOver) return undefined;
  remember(services, `${kind} ${client}`, row.expiresAt);
  return secondsUntil(services.clock, row.expiresAt);
}

function waitOf(services: Counting, kind: Kind, client: string): number | undefined {
  const until = shut.get(services.cipher)?.get(`${kind} ${client}`);
  return until && until > services.clock.now() ? secondsUntil(services.clock, until) : undefined;
}

function remember({ cipher, clock }: Counting, key: string, until: Date): void {
  const known = shut.get(cipher) ?? new Map<string, Date>();
  shut.set(cipher, known);
  if (known.size >= maxShut) {
    const now = clock.now();
    for (const [other, end] of known) if (end <= now) known.delete(other);
    // Beyond this size, the database still counts.
    if (known.size >= maxShut) known.clear();
  }
  known.set(key, until);
}
