import { InvalidInputError, NotAllowedError, NotFoundError } from '../../errors.ts';
import type { EventName } from '../../events/catalogue/catalogue.ts';
import { assertLineReached, readSettledLine } from '../../events/consumers.ts';
import { encodePosition } from '../../events/position.ts';
import { orExpired, positionOf } from '../../events/range.ts';
import { EventInterface, EventTypeEnum } from '../../events/schema.ts';
import type { Prisma, Webhook as WebhookRow } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { assertMayFilter, connectionOf, readPage } from '../../graphql/lists/page.ts';
import { addMutation, type PayloadFields } from '../../graphql/mutations/mutation.ts';
import { recordMutations } from '../../graphql/mutations/record-mutations.ts';
import { webhookMutations } from '../endpoint/schema.ts';
import { redeliver, replayEvents, testWebhook } from './by-hand.ts';
import { type ChangedDelivery, followDeliveries } from './changes.ts';
import { eventOfDelivery } from './event.ts';

const DeliveryStatusEnum = builder.enumType('DeliveryStatus', {
  description: 'The state of a delivery.',
  values: {
    PENDING: { description: 'It is being posted, or waits for its next attempt.' },
    SUCCEEDED: { description: 'The endpoint accepted it.' },
    FAILED: { description: 'Every attempt failed. There are no more, unless it is redelivered.' },
  } as const,
});

builder.prismaObject('DeliveryAttempt', {
  description: 'One POST to an endpoint.',
  authScopes: { scope: 'webhooks:read' },
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it began.' }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    statusCode: t.exposeInt('statusCode', {
      nullable: true,
      description: "The answer's HTTP status; null without an answer.",
    }),
    responseBody: t.exposeString('responseBody', {
      nullable: true,
      description: 'The first 4 KiB of the answer; null without an answer.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why it failed, or what was unusual about a success.',
    }),
  }),
});

/** One event for one endpoint. */
const Delivery = builder.prismaNode('Delivery', {
  nullable: true,
  id: { field: 'id', description: "The delivery's id: a TypeID with the prefix `dlv`." },
  description: 'One event for one endpoint.',
  authScopes: { scope: 'webhooks:read' },
  fields: (t) => ({
    webhook: t.relation('webhook', { description: 'The webhook that it is for.' }),
    eventType: t.field({
      type: EventTypeEnum,
      description: "The event's type.",
      select: { eventType: true },
      resolve: ({ eventType }) => eventType as EventName,
    }),
    event: t.field({
      type: EventInterface,
      nullable: true,
      description: 'The event; null if it was purged, or without `events:read`.',
      authScopes: { scopeInPlace: 'events:read' },
      select: { eventId: true, testEvent: true },
      resolve: (delivery, _args, context) => eventOfDelivery(context, delivery),
    }),
    isTest: t.boolean({
      description: 'Whether it is a test. The event of a test is a sample and not in the log.',
      select: { testEvent: true },
      resolve: ({ testEvent }) => testEvent !== null,
    }),
    status: t.expose('status', { type: DeliveryStatusEnum, description: 'Its state.' }),
    attempts: t.relation('attempts', {
      description: 'The attempts so far, oldest first.',
      query: { orderBy: { id: 'asc' } },
      complexity: { field: 1, multiplier: 10 },
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the next attempt is due, provided that the webhook is enabled; null if there is none.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

const DeliveryConnection = connectionOf('Delivery', Delivery);

builder.objectField(DeliveryConnection, 'cursor', (t) =>
  t.string({
    description:
      'The place in the event log at which this page was read. Pass it as `after` to `webhookDeliveries` for every later change.',
    // Only `Webhook.deliveries` makes this connection.
    resolve: (page) => (page as unknown as { readonly cursor: string }).cursor,
  }),
);

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'Which deliveries to list. A match meets every field that is given.',
  fields: (t) => ({
    status: t.field({ type: DeliveryStatusEnum, description: 'With this status.' }),
    types: t.field({ type: [EventTypeEnum], description: 'For an event of one of these types.' }),
    eventId: t.id({ description: 'For this event. Requires `events:read` too.' }),
  }),
});

// Filters that require a scope of another area.
const deliveryFilterScopes = { eventId: 'events:read' } as const;

function deliveryWhere(
  webhookId: string,
  filter: typeof DeliveryFilter.$inferInput | null | undefined,
): Prisma.DeliveryWhereInput {
  const { status, types, eventId } = filter ?? {};
  return {
    webhookId,
    ...(status == null ? {} : { status }),
    ...(types == null ? {} : { eventType: { in: [...types] } }),
    ...(eventId == null ? {} : { eventId }),
  };
}

builder.prismaObjectField('Webhook', 'deliveries', (t) =>
  t.connection(
    {
      type: Delivery,
      description: 'Its deliveries, newest first.',
      select: { id: true },
      args: { filter: t.arg({ type: DeliveryFilter, description: 'Which deliveries to list.' }) },
      resolve: async (webhook, args, context, info) => {
        assertMayFilter(context, args.filter, deliveryFilterScopes);
        // Read before the page: all earlier changes are in it.
        const line = await readSettledLine(context.database.prisma);
        const page = await readPage({
          args,
          context,
          info,
          model: context.database.prisma.delivery,
          where: deliveryWhere(webhook.id, args.filter),
          order: { field: 'id', nullable: false, direction: 'desc' },
        });
        return { ...page, cursor: encodePosition(line) };
      },
    },
    DeliveryConnection,
  ),
);

builder.subscriptionFields((t) => ({
  webhookDeliveries: t.prismaField({
    type: Delivery,
    description:
      "A webhook's deliveries as they change: made, attempted, redelivered. Each has its state at that time. With `after` it sends those that changed after that cursor first; one of the same transaction as the cursor may be sent again.",
    authScopes: { scope: 'webhooks:read' },
    args: {
      webhookId: t.arg.id({ required: true, description: "The webhook's id." }),
      after: t.arg.string({
        description:
          'A `cursor` of `Webhook.deliveries`, or of the event log. Absent: changes from now on only.',
      }),
    },
    subscribe: async (_root, { webhookId, after: cursor }, { database, log }) => {
      const after = positionOf(cursor);
      if (after) await orExpired(assertLineReached(database.prisma, after));
      const from = after ?? (await readSettledLine(database.prisma));
      return followDeliveries({ database, log }, webhookId, from);
    },
    // One snapshot: a delivery and its attempts are of the same time.
    resolve: async (query, delivery, _args, { database: { prisma } }) => {
      const { id } = delivery as ChangedDelivery;
      const [row] = await prisma.$transaction(
        [prisma.delivery.findUnique({ ...query, where: { id } })],
        { isolationLevel: 'RepeatableRead' },
      );
      if (!row) throw new NotFoundError(id);
      return row;
    },
  }),
}));

const mutations = recordMutations('delivery', Delivery, {
  scope: 'webhooks:write',
  description: 'The delivery, which will be posted soon.',
});

mutations.add('testWebhook', {
  isOutside: true,
  description:
    'Posts a sample event to a webhook, even to a disabled one. It makes one attempt, with the header `signet-test: true`. Raises no event.',
  input: (t) => ({
    id: webhookMutations.id(t),
    type: t.field({
      type: EventTypeEnum,
      description: "The event's type. Absent: the first type that the webhook gets.",
    }),
  }),
  errors: [NotFoundError],
  operation: (context, input, { schema }) => testWebhook(context, schema, input),
});

mutations.add('redeliver', {
  isOutside: true,
  description:
    'Delivers once more, with all retries. It waits while the webhook is disabled. Raises no event.',
  input: (t) => ({
    deliveryId: mutations.id(t),
  }),
  errors: [NotFoundError, NotAllowedError],
  operation: (context, input) => redeliver(context, input),
});

addMutation('replayEvents', {
  isOutside: true,
  description:
    'Delivers a range of the log to a webhook once more: at most 50,000 events of the types that it gets. Raises no event.',
  scope: 'webhooks:write',
  input: (t) => ({
    webhookId: webhookMutations.id(t),
    after: t.string({ description: 'Events after this cursor of the log.' }),
    before: t.string({ description: 'Events before this cursor of the log.' }),
    since: t.field({
      type: 'DateTime',
      description: 'Events at or after this instant. Give this or `after`.',
    }),
    until: t.field({ type: 'DateTime', description: 'Events before this instant.' }),
    types: t.field({
      type: [EventTypeEnum],
      description: 'Events of these types. Absent: all types that the webhook gets.',
    }),
  }),
  payload: (t: PayloadFields<{ webhook: WebhookRow; deliveryCount: number }>) => ({
    ...webhookMutations.payload(t),
    deliveryCount: t.exposeInt('deliveryCount', { description: 'How many deliveries were made.' }),
  }),
  errors: [InvalidInputError, NotFoundError],
  resolve: (input, context, { schema }) => replayEvents(context, schema, input),
});
