import { InvalidInputError, NotAllowedError, NotFoundError } from '../../errors.ts';
import type { EventName } from '../../events/catalogue.ts';
import { EventInterface, EventTypeEnum } from '../../events/schema.ts';
import type {
  Delivery as DeliveryRow,
  Prisma,
  Webhook as WebhookRow,
} from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { assertMayFilter, connectionOf, readPage } from '../../graphql/lists/page.ts';
import { addMutation, type PayloadFields } from '../../graphql/mutation.ts';
import { recordMutations } from '../../graphql/record-mutations.ts';
import { webhookMutations } from '../endpoint/schema.ts';
import { redeliver, replayEvents, testWebhook } from './by-hand.ts';
import { followDeliveries } from './changes.ts';
import { eventOfDelivery } from './event.ts';

const DeliveryStatusEnum = builder.enumType('DeliveryStatus', {
  description: 'How far a delivery has come.',
  values: {
    PENDING: { description: 'It is on its way, or waits for its next attempt.' },
    SUCCEEDED: { description: 'The endpoint took it.' },
    FAILED: { description: 'Every attempt failed: there are no more unless it is redelivered.' },
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
      description: "The answer's HTTP status; null where none came.",
    }),
    responseBody: t.exposeString('responseBody', {
      nullable: true,
      description: 'The first 4 KiB of the answer; null where none came.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why it failed, or what was odd about a success.',
    }),
  }),
});

/** One event for one endpoint. */
export const Delivery = builder.prismaNode('Delivery', {
  nullable: true,
  id: { field: 'id', description: "The delivery's id: a TypeID with the prefix `dlv`." },
  description: 'One event for one endpoint.',
  authScopes: { scope: 'webhooks:read' },
  fields: (t) => ({
    webhook: t.relation('webhook', { description: 'The webhook it is for.' }),
    eventType: t.field({
      type: EventTypeEnum,
      description: "The event's type.",
      select: { eventType: true },
      resolve: ({ eventType }) => eventType as EventName,
    }),
    event: t.field({
      type: EventInterface,
      nullable: true,
      description: 'The event; null where it has left the log, or without `events:read`.',
      authScopes: { scopeInPlace: 'events:read' },
      select: { eventId: true, testEvent: true },
      resolve: (delivery, _args, context) => eventOfDelivery(context, delivery),
    }),
    isTest: t.boolean({
      description: 'Whether it is a test, whose event is made up and in no log.',
      select: { testEvent: true },
      resolve: ({ testEvent }) => testEvent !== null,
    }),
    status: t.expose('status', { type: DeliveryStatusEnum, description: 'How far it has come.' }),
    attempts: t.relation('attempts', {
      description: 'The attempts so far, oldest first.',
      query: { orderBy: { id: 'asc' } },
      complexity: { field: 1, multiplier: 10 },
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the next attempt is due, once the webhook is on; null where there is none.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

const DeliveryConnection = connectionOf('Delivery', Delivery);

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'Which deliveries to list: those for which every field given holds.',
  fields: (t) => ({
    status: t.field({ type: DeliveryStatusEnum, description: 'Has this status.' }),
    types: t.field({ type: [EventTypeEnum], description: 'Is of an event of one of these types.' }),
    eventId: t.id({ description: 'Is of this event. Takes `events:read` too.' }),
  }),
});

// What a filter asks of other areas.
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
      resolve: (webhook, args, context, info) => {
        assertMayFilter(context, args.filter, deliveryFilterScopes);
        return readPage({
          args,
          context,
          info,
          model: context.database.prisma.delivery,
          where: deliveryWhere(webhook.id, args.filter),
          order: { field: 'id', nullable: false, direction: 'desc' },
        });
      },
    },
    DeliveryConnection,
  ),
);

builder.subscriptionFields((t) => ({
  webhookDeliveries: t.field({
    type: Delivery,
    description:
      "A webhook's deliveries as they change from now on: made, tried, redelivered. Each comes as it is by then.",
    authScopes: { scope: 'webhooks:read' },
    args: { webhookId: t.arg.id({ required: true, description: "The webhook's id." }) },
    subscribe: (_root, { webhookId }, { database }) => followDeliveries(database.prisma, webhookId),
    resolve: (delivery) => delivery as DeliveryRow,
  }),
}));

const mutations = recordMutations('delivery', Delivery, {
  scope: 'webhooks:write',
  description: 'The delivery, which is on its way.',
});

mutations.add('testWebhook', {
  description:
    'Posts a made-up event to a webhook, even where it is off: one attempt, with the header `signet-test: true`. Raises no event.',
  input: (t) => ({
    id: webhookMutations.id(t),
    type: t.field({
      type: EventTypeEnum,
      description: "The event's type. Absent: the first that the webhook gets.",
    }),
  }),
  errors: [NotFoundError],
  operation: (context, input, { schema }) => testWebhook(context, schema, input),
});

mutations.add('redeliver', {
  description:
    'Delivers once more, with all retries before it. While the webhook is off it waits. Raises no event.',
  input: (t) => ({
    deliveryId: mutations.id(t),
  }),
  errors: [NotFoundError, NotAllowedError],
  operation: (context, input) => redeliver(context, input),
});

addMutation('replayEvents', {
  description:
    'Delivers a range of the log to a webhook once more: at most 50,000 events, of the types that it gets. Raises no event.',
  scope: 'webhooks:write',
  input: (t) => ({
    webhookId: webhookMutations.id(t),
    after: t.string({ description: 'Events behind this cursor of the log.' }),
    before: t.string({ description: 'Events in front of this cursor of the log.' }),
    since: t.field({
      type: 'DateTime',
      description: 'Events from this instant on. This or `after` must be given.',
    }),
    until: t.field({ type: 'DateTime', description: 'Events before this instant.' }),
    types: t.field({
      type: [EventTypeEnum],
      description: 'Events of these types. Absent: of all that the webhook gets.',
    }),
  }),
  payload: (t: PayloadFields<{ webhook: WebhookRow; deliveryCount: number }>) => ({
    ...webhookMutations.payload(t),
    deliveryCount: t.exposeInt('deliveryCount', { description: 'How many deliveries were made.' }),
  }),
  errors: [InvalidInputError, NotFoundError],
  resolve: (input, context, { schema }) => replayEvents(context, schema, input),
});
