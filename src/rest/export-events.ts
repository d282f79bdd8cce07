import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { faultOfCaller } from '../auth/caller.ts';
import { runSql } from '../db/sql.ts';
import { type EventName, enumValueOf } from '../events/catalogue/catalogue.ts';
import { readEnd, readPage } from '../events/log.ts';
import { comparePositions, type EventPosition, encodePosition } from '../events/position.ts';
import { rangeOf, refuseExpired } from '../events/range.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { assertAllowed } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { unauthenticated } from '../graphql/request-error.ts';
import { leaveTurn } from '../http/admit.ts';

/** The media type of an export: lines of JSON (https://github.com/ndjson/ndjson-spec). */
export const linesOfJson = 'application/x-ndjson';

/** The query parameters of an export: those of the list, but for the size of a page. */
export const exportParameters = [
  'types',
  'subjectId',
  'actorId',
  'since',
  'until',
  'after',
  'before',
];

// Larger pages are a little faster, and outlive the collector's young generation: with a thousand the process grew by
// some 150 MB.
const pageSize = 300;

/** How often the caller's token is looked at again. */
const lookMs = 1_000;

interface Row {
  readonly id: string;
  readonly type: EventName;
  readonly occurredAt: Date;
  readonly actor: string | null;
  readonly data: string;
  readonly traceId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly xid: string;
  readonly position: string;
}

const columns = Prisma.sql`
  "id", "type", "occurredAt", "data"::text AS "data", "ip", "userAgent", "traceId",
  CASE WHEN "actor" IS NOT NULL THEN json_build_object(
    'type', "actor"->'type', 'id', "actor"->'id', 'clientId', "actor"->'clientId')::text END AS "actor",
  "xid"::text AS "xid", "position"::text AS "position"`;

/**
 * Answers with the log as lines of JSON, from one page to the next, up to its end at the time of the request. Nothing
 * is held open between pages, so a slow reader costs the database nothing. An answer that breaks off can be continued
 * with the cursor of its last whole line.
 *
 * @throws FORBIDDEN, CURSOR_EXPIRED, BAD_USER_INPUT. Once lines have been sent the answer breaks off instead: also when
 *   the token expires, or is revoked.
 */
export async function answerExport(
  asked: Parameters<typeof rangeOf>[0],
  context: GraphQLContext,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { caller, clock, database, turns } = context;
  const { prisma, sql } = database;
  assertAllowed(caller, 'events:read');
  const range = rangeOf(asked);
  const end = await readEnd(prisma);

  async function readFrom(after: EventPosition | undefined): Promise<readonly Row[]> {
    const rows = await readPage<Row>(
      prisma,
      { ...range, after, take: pageSize },
      { selected: columns, run: (statement) => runSql(sql, statement), placeOf: positionOf },
    );
    await refuseExpired(prisma, range.filter, after);
    // What is written meanwhile is left to the next export: this one has an end.
    return rows.filter((row) => comparePositions(positionOf(row), end) <= 0);
  }

  async function* pages(first: readonly Row[]): AsyncGenerator<string> {
    let lookedAt = clock.now().getTime();
    for (let page = first; page.length > 0; ) {
      yield page.map(lineOf).join('');
      const last = page.at(-1);
      if (!last || page.length < pageSize) return;
      if (clock.now().getTime() - lookedAt >= lookMs) {
        lookedAt = clock.now().getTime();
        if (!caller || (await faultOfCaller(context, caller))) throw unauthenticated();
      }
      page = await turns.run('background', () => readFrom(positionOf(last)));
    }
  }

  await refuseExpired(prisma, range.filter, range.before);
  const first = await readFrom(range.after);
  reply.type(linesOfJson);
  // Each further page waits for a turn of its own.
  leaveTurn(reply.raw);
  // A stream would be read to its end for a HEAD request too.
  if (reply.request.method === 'HEAD') return reply.send();
  return reply.send(Readable.from(pages(first), { objectMode: false }));
}

const positionOf = ({ xid, position, id }: Row): EventPosition => ({
  xid,
  position: BigInt(position),
  eventId: id,
});

function lineOf(row: Row): string {
  const { id, type, occurredAt, actor, data, ip, userAgent, traceId } = row;
  const head = JSON.stringify({
    id,
    cursor: encodePosition(positionOf(row)),
    type: enumValueOf(type),
    name: type,
    occurredAt,
    ip,
    userAgent,
    traceId,
  });
  return `${head.slice(0, -1)},"actor":${actor ?? 'null'},"data":${data}}\n`;
}
