import type { GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { lockRow } from '../../db/lock.ts';
import { quietTransaction } from '../../db/transaction.ts';
import { InvalidInputError, NotAllowedError, NotFoundError } from '../../errors.ts';
import { type EventName, eventNames, sampleData } from '../../events/catalogue/catalogue.ts';
import { assertRetained, CursorExpired } from '../../events/consumers.ts';
import { findEvents, isIn } from '../../events/log.ts';
import { decodePosition, type EventPosition } from '../../events/position.ts';
import { type Delivery, Prisma, type Webhook } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { fault, instant, parseInput } from '../../input.ts';
import type { Context } from '../../services.ts';
import { takenEvents } from '../endpoint/operations.ts';
import type { TestEvent } from './event.ts';
import { derivedDeliveryId } from './id.ts';
import { isDue, isLeased } from './queue.ts';

const eventType = z.enum(eventNames as [EventName, ...EventName[]]);

const testWebhookInput = z.object({ id: z.string(), type: eventType.nullish() });

/**
 * Sends a sample event to a webhook, even to a disabled one. There is one attempt, and it counts neither as a success
 * nor as a failure of the webhook.
 *
 * @param schema The schema that the webhook's query is executed on.
 * @param input.type Absent: the first type that the webhook gets, or `User.Created`.
 * @throws {InvalidInputError} {@link NotFoundError}
 */
export async function testWebhook(
  context: Context,
  schema: GraphQLSchema,
  input: z.input<typeof testWebhookInput>,
): Promise<Delivery> {
  const { id: webhookId, type } = parseInput(testWebhookInput, input);
  const { database, clock, actor, traceId, ip, userAgent } = context;
  const delivery = await quietTransaction(database, async (tx) => {
    await lockRow(tx, 'Webhook', webhookId);
    const webhook = await tx.webhook.findUniqueOrThrow({ where: { id: webhookId } });
    const now = clock.now();
    const [first = 'User.Created'] = takenEvents(schema, { ...webhook, enabled: true }) ?? [];
    const chosen = type ?? (first as EventName);
    const testEvent = {
      type: chosen,
      occurredAt: now.toISOString(),
      actor,
      data: sampleData(chosen, now),
      traceId,
      ip,
      userAgent,
    } satisfies TestEvent;
    return tx.delivery.create({
      data: {
        id: newId('Delivery'),
        webhookId,
        eventId: newId('Event'),
        eventType: chosen,
        // Plain JSON, but its type lacks the index signature that Prisma requires.
        testEvent: testEvent as unknown as Prisma.InputJsonObject,
        nextAttemptAt: now,
        createdAt: now,
        updatedAt: now,
      },
    });
  });
  database.hints.send('queues');
  return delivery;
}

/**
 * Delivers once more, with all retries. A delivery that is being posted is left as it is.
 *
 * @throws {NotFoundError} {@link NotAllowedError} when its event has left the log.
 */
export async function redeliver(
  context: Context,
  { deliveryId }: { deliveryId: string },
): Promise<Delivery> {
  const { database, clock } = context;
  const delivery = await quietTransaction(database, async (tx) => {
    await lockRow(tx, 'Delivery', deliveryId);
    const before = await tx.delivery.findUniqueOrThrow({ where: { id: deliveryId } });
    const now = clock.now();
    const underWay = await tx.$queryRaw<unknown[]>`
      SELECT 1 AS "found" FROM "Delivery" d WHERE d."id" = ${deliveryId} AND ${isDue(now)} AND ${isLeased(now)}`;
    if (underWay.length > 0) return before;
    const isKept = before.testEvent !== null || (await findEvents(tx, [before.eventId])).length > 0;
    if (!isKept) throw new NotAllowedError('The event has left the log.');
    await tx.$executeRaw`
      UPDATE "Delivery" SET "changedIn" = pg_current_xact_id() WHERE "id" = ${deliveryId}`;
    return tx.delivery.update({
      where: { id: deliveryId },
      data: { status: 'PENDING', attemptCount: 0, nextAttemptAt: now, updatedAt: now },
    });
  });
  database.hints.send('queues');
  return delivery;
}

async function refuseExpired(
  { prisma }: Context['database'],
  field: string,
  cursor: EventPosition,
  types: readonly EventName[] | undefined,
): Promise<void> {
  try {
    await assertRetained(prisma, cursor, types);
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error;
    throw new InvalidInputError([
      { path: [field], message: 'is older than the log is kept, or not of this log' },
    ]);
  }
}

/** The most events that one replay delivers. */
export const maxReplayed = 50_000;

const cursor = z.string().transform((value, issues) => {
  const position = decodePosition(value);
  if (position) return position;
  issues.addIssue({
    code: 'custom',
    ...fault('INVALID_FORMAT', 'is not a cursor of the event log'),
  });
  return z.NEVER;
});

const replayEventsInput = z
  .object({
    webhookId: z.string(),
    after: cursor.nullish(),
    before: cursor.nullish(),
    since: instant.nullish(),
    until: instant.nullish(),
    types: z.array(eventType).nullish(),
  })
  .refine(({ after, since }) => after != null || since != null, {
    path: ['after'],
    ...fault('REQUIRED', 'must be given, or "since": where the range begins'),
  });

/**
 * Delivers a range of the log to a webhook once more. Each event whose type the webhook gets becomes a new delivery.
 *
 * @param schema The schema that the webhook's query is executed on.
 * @returns The webhook, and the number of deliveries made.
 * @throws {InvalidInputError} also when the range holds more than 50,000 such events; {@link NotFoundError}.
 */
export async function replayEvents(
  context: Context,
  schema: GraphQLSchema,
  input: z.input<typeof replayEventsInput>,
): Promise<{ webhook: Webhook; deliveryCount: number }> {
  const { webhookId, after, before, since, until, types } = parseInput(replayEventsInput, input);
  const { database, clock } = context;
  const webhook = await database.prisma.webhook.findUnique({ where: { id: webhookId } });
  if (!webhook) throw new NotFoundError(webhookId);
  const now = clock.now();
  // Only the names of types are stored.
  const taken = (takenEvents(schema, { ...webhook, enabled: true }) ?? []) as EventName[];
  const range = {
    filter: {
      // An empty list takes every type.
      types:
        taken.length === 0
          ? (types ?? undefined)
          : taken.filter((type) => types?.includes(type) ?? true),
      since: since ?? undefined,
      until: until ?? undefined,
    },
    after: after ?? undefined,
    before: before ?? undefined,
  };
  if (after) await refuseExpired(database, 'after', after, range.filter.types);
  if (before) await refuseExpired(database, 'before', before, range.filter.types);
  const seed = newId('Delivery');
  const deliveryCount = await quietTransaction(database, async (tx) => {
    const made = await tx.$executeRaw`
      INSERT INTO "Delivery"
             ("id", "webhookId", "eventId", "eventType", "nextAttemptAt", "createdAt", "updatedAt")
      SELECT ${derivedDeliveryId(Prisma.sql`${seed}::text`, Prisma.sql`e."id" || ${seed}`)},
             w."id", e."id", e."type", ${now}, ${now}, ${now}
        FROM (SELECT "id", "type" FROM "Event" WHERE ${isIn(database.prisma, range)}
               ORDER BY "xid", "position" LIMIT ${maxReplayed + 1}) e
        JOIN "Webhook" w ON w."id" = ${webhookId}`;
    if (made > maxReplayed) {
      throw new InvalidInputError([
        { path: ['until'], message: `must end the range within ${maxReplayed} events` },
      ]);
    }
    return made;
  });
  database.hints.send('queues');
  return { webhook, deliveryCount };
}
