import { InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type { EventName } from '../events/catalogue.ts';
import { EventInterface, EventTypeEnum } from '../events/schema.ts';
import type {
  Delivery as DeliveryRow,
  Prisma,
  Webhook as WebhookRow,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { connectionOf, containing, orderInput, readPage } from '../graphql/list.ts';
import {
  addMutation,
  asItLastWas,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutation.ts';
import { redeliver, replayEvents, testWebhook } from './by-hand.ts';
import { DeliveryChanges, WebhookChanges } from './changes.ts';
import { eventOfDelivery } from './delivery-event.ts';
import { createWebhook, deleteWebhook, rotateWebhookSecret, updateWebhook } from './operations.ts';
import { openHeaders } from './sealed.ts';

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
      description: 'The event; null where it has left the log.',
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
    eventId: t.id({ description: 'Is of this event.' }),
  }),
});

/** An endpoint that gets events. */
export const Webhook = builder.prismaNode('Webhook', {
  nullable: true,
  id: { field: 'id', description: "The webhook's id: a TypeID with the prefix `hook`." },
  description: 'An endpoint that gets events (https://www.standardwebhooks.com).',
  authScopes: { scope: 'webhooks:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    url: t.expose('url', { type: 'URL', description: 'Where the events are posted to.' }),
    events: t.field({
      type: [EventTypeEnum],
      description: 'The types of events it gets. Empty: all.',
      select: { events: true },
      resolve: ({ events }) => events as EventName[],
    }),
    query: t.exposeString('query', {
      nullable: true,
      description: 'The subscription document whose result is the payload; null: the whole event.',
    }),
    headers: t.stringList({
      description:
        'The names of its own headers. Their values are not shown: they may be credentials.',
      select: { id: true, headers: true },
      resolve: (webhook, _args, { cipher }) => Object.keys(openHeaders(cipher, webhook)),
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is on.' }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description: 'Why Signet switched it off; null where it did not.',
    }),
    maxInFlight: t.exposeInt('maxInFlight', {
      description: 'How many deliveries are under way to it at once, at most.',
    }),
    deliveries: t.connection(
      {
        type: Delivery,
        description: 'Its deliveries, newest first.',
        select: { id: true },
        args: { filter: t.arg({ type: DeliveryFilter, description: 'Which deliveries to list.' }) },
        resolve: (webhook, args, context, info) =>
          readPage({
            args,
            context,
            info,
            model: context.database.prisma.delivery,
            where: deliveryWhere(webhook.id, args.filter),
            order: { field: 'id', nullable: false, direction: 'desc' },
          }),
      },
      DeliveryConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

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

const WebhookConnection = connectionOf('Webhook', Webhook);

const WebhookFilter = builder.inputType('WebhookFilter', {
  description: 'Which webhooks to list: those for which every field given holds.',
  fields: (t) => ({
    search: t.string({ description: 'Part of the name, the URL or the id, whatever its case.' }),
    enabled: t.boolean({ description: 'Is on, or is off.' }),
  }),
});

const order = orderInput('Webhook', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By when they were created.' },
  NAME: { field: 'name', nullable: false, description: 'By name.' },
});

function webhookWhere(
  filter: typeof WebhookFilter.$inferInput | null | undefined,
): Prisma.WebhookWhereInput {
  const search = filter?.search?.trim();
  const contains = containing(search ?? '');
  return {
    ...(search ? { OR: [{ name: contains }, { url: contains }, { id: contains }] } : {}),
    ...(filter?.enabled == null ? {} : { enabled: filter.enabled }),
  };
}

builder.queryFields((t) => ({
  webhook: t.prismaField({
    type: 'Webhook',
    nullable: true,
    description: 'A webhook, or null where there is none with that id.',
    authScopes: { scope: 'webhooks:read' },
    args: { id: t.arg.id({ required: true, description: "The webhook's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.webhook.findUnique({ ...query, where: { id } }),
  }),
  webhooks: t.connection(
    {
      type: Webhook,
      description: 'The webhooks, newest first where no order is asked for.',
      authScopes: { scope: 'webhooks:read' },
      args: {
        filter: t.arg({ type: WebhookFilter, description: 'Which webhooks to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) =>
        readPage({
          args,
          context,
          info,
          model: context.database.prisma.webhook,
          where: webhookWhere(args.filter),
          order: order.read(args.orderBy),
        }),
    },
    WebhookConnection,
  ),
}));

builder.subscriptionFields((t) => ({
  webhook: t.field({
    type: Webhook,
    description:
      'A webhook as it changes from now on: updated, its secret rotated, switched off. Ends when it is deleted.',
    authScopes: { scope: 'webhooks:read' },
    args: { id: t.arg.id({ required: true, description: "The webhook's id." }) },
    subscribe: (_root, { id }, { database }) => WebhookChanges.follow(database.prisma, id),
    resolve: (webhook) => webhook as WebhookRow,
  }),
  webhookDeliveries: t.field({
    type: Delivery,
    description:
      "A webhook's deliveries as they change from now on: made, tried, redelivered. Each comes as it is by then.",
    authScopes: { scope: 'webhooks:read' },
    args: { webhookId: t.arg.id({ required: true, description: "The webhook's id." }) },
    subscribe: (_root, { webhookId }, { database }) =>
      DeliveryChanges.follow(database.prisma, webhookId),
    resolve: (delivery) => delivery as DeliveryRow,
  }),
}));

type WebhookPayload = { webhook: WebhookRow };

const webhookPayload = <Payload extends WebhookPayload>(t: PayloadFields<Payload>) => ({
  webhook: t.field({
    type: Webhook,
    description: 'The webhook.',
    resolve: ({ webhook }) => webhook,
  }),
});

const secretPayload = (t: PayloadFields<WebhookPayload & { secret: string }>) => ({
  ...webhookPayload(t),
  secret: t.exposeString('secret', {
    description: 'The signing secret, `whsec_` and base64, shown this once.',
  }),
});

const idField = (t: InputFields) => ({
  id: t.id({ required: true, description: "The webhook's id." }),
});

const settings = (t: InputFields) => ({
  events: t.field({
    type: [EventTypeEnum],
    description: 'The types of events it gets. Empty or absent: all.',
  }),
  query: t.string({
    description:
      'A subscription document on `events`, without variables: its result takes the place of the whole event. It runs with the scopes of the caller of this mutation, `events:read` among them. At most 20,000 characters.',
  }),
  headers: t.field({
    type: 'JSONObject',
    description:
      'Headers of its own, by name, at most 20: not those that Signet sets (`webhook-*`, `content-*`, `host` and the like).',
  }),
  enabled: t.boolean({ description: 'Whether it is on. True by default.' }),
  maxInFlight: t.int({
    description: 'How many deliveries are under way to it at once, from 1 to 1000. 10 by default.',
  }),
});

addMutation('createWebhook', {
  description:
    'Creates a webhook. It gets the events that are committed from now on while it is on: `webhooks:write` is the right to send every event somewhere. Raises no event.',
  scope: 'webhooks:write',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters.' }),
    url: t.field({
      type: 'URL',
      required: true,
      description: 'Where to post to: https, a public address, and no credentials in it.',
    }),
    ...settings(t),
  }),
  payload: secretPayload,
  errors: [InvalidInputError],
  resolve: (input, context, { schema }) => createWebhook(context, schema, input),
});

addMutation('updateWebhook', {
  description:
    'Changes a webhook, from its next delivery on. An absent field is left alone, null clears it. While it is off its deliveries wait. Raises no event.',
  scope: 'webhooks:write',
  input: (t) => ({
    ...idField(t),
    name: t.string({ description: 'At most 128 characters.' }),
    url: t.field({
      type: 'URL',
      description: 'Where to post to: https, a public address, and no credentials in it.',
    }),
    ...settings(t),
  }),
  payload: (t: PayloadFields<WebhookPayload>) => webhookPayload(t),
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context, { schema }) => ({
    webhook: await updateWebhook(context, schema, input),
  }),
});

addMutation('deleteWebhook', {
  description: 'Deletes a webhook with its deliveries. Raises no event.',
  scope: 'webhooks:write',
  input: idField,
  payload: (t: PayloadFields<WebhookPayload>) => webhookPayload(t),
  errors: [NotFoundError],
  resolve: async (input, context, info) => {
    const { webhook } = context.database.prisma;
    return {
      webhook: await asItLastWas({
        context,
        info,
        field: 'webhook',
        read: (query) => webhook.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteWebhook(context, input),
      }),
    };
  },
});

addMutation('rotateWebhookSecret', {
  description:
    'Gives a webhook a new signing secret; the old one signs beside it for 24 hours. Raises no event.',
  scope: 'webhooks:write',
  input: idField,
  payload: secretPayload,
  errors: [NotFoundError],
  resolve: (input, context) => rotateWebhookSecret(context, input),
});

const deliveryPayload = (t: PayloadFields<{ delivery: DeliveryRow }>) => ({
  delivery: t.field({
    type: Delivery,
    description: 'The delivery, which is on its way.',
    resolve: ({ delivery }) => delivery,
  }),
});

addMutation('testWebhook', {
  description:
    'Posts a made-up event to a webhook, even where it is off: one attempt, with the header `signet-test: true`. Raises no event.',
  scope: 'webhooks:write',
  input: (t) => ({
    ...idField(t),
    type: t.field({
      type: EventTypeEnum,
      description: "The event's type. Absent: the first that the webhook gets.",
    }),
  }),
  payload: deliveryPayload,
  errors: [NotFoundError],
  resolve: async (input, context, { schema }) => ({
    delivery: await testWebhook(context, schema, input),
  }),
});

addMutation('redeliver', {
  description:
    'Delivers once more, with all retries before it. While the webhook is off it waits. Raises no event.',
  scope: 'webhooks:write',
  input: (t) => ({
    deliveryId: t.id({ required: true, description: "The delivery's id." }),
  }),
  payload: deliveryPayload,
  errors: [NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ delivery: await redeliver(context, input) }),
});

addMutation('replayEvents', {
  description:
    'Delivers a range of the log to a webhook once more: at most 50,000 events, of the types that it gets. Raises no event.',
  scope: 'webhooks:write',
  input: (t) => ({
    webhookId: t.id({ required: true, description: "The webhook's id." }),
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
  payload: (t: PayloadFields<WebhookPayload & { deliveryCount: number }>) => ({
    ...webhookPayload(t),
    deliveryCount: t.exposeInt('deliveryCount', { description: 'How many deliveries were made.' }),
  }),
  errors: [InvalidInputError, NotFoundError],
  resolve: (input, context, { schema }) => replayEvents(context, schema, input),
});
