import { InvalidInputError, NotFoundError } from '../../errors.ts';
import type { EventName } from '../../events/catalogue.ts';
import { EventTypeEnum } from '../../events/schema.ts';
import type { Prisma, Webhook as WebhookRow } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import {
  connectionOf,
  orderInput,
  readPage,
  searchDescription,
  searching,
} from '../../graphql/lists/page.ts';
import {
  addMutation,
  asItLastWas,
  type InputFields,
  type PayloadFields,
} from '../../graphql/mutation.ts';
import { followWebhook } from './changes.ts';
import { createWebhook, deleteWebhook, rotateWebhookSecret, updateWebhook } from './operations.ts';
import { openHeaders } from './sealed.ts';

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
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

const WebhookConnection = connectionOf('Webhook', Webhook);

const WebhookFilter = builder.inputType('WebhookFilter', {
  description: 'Which webhooks to list: those for which every field given holds.',
  fields: (t) => ({
    search: t.string({ description: searchDescription('the name, the URL or the id') }),
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
  return {
    ...searching(filter?.search, ['name', 'url', 'id']),
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
    subscribe: (_root, { id }, { database }) => followWebhook(database.prisma, id),
    resolve: (webhook) => webhook as WebhookRow,
  }),
}));

/** What mutations on a webhook return. */
export type WebhookPayload = { webhook: WebhookRow };

/** Its field in their payloads. */
export const webhookPayload = <Payload extends WebhookPayload>(t: PayloadFields<Payload>) => ({
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

/** The field of their inputs that names it. */
export const idField = (t: InputFields) => ({
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
    'Creates a webhook. It gets the events that are committed from now on while it is on, which takes `events:read` too, and for as long as its creator holds both: then it is switched off. Raises no event.',
  scope: ['webhooks:write', 'events:read'],
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
    'Changes a webhook, from its next delivery on, which takes `events:read` too. An absent field is left alone, null clears it; with a URL of another origin its query and its headers go, unless they are given again. Who changes where it leads, what it sends, or switches it on answers for it as a creator does. While it is off its deliveries wait. Raises no event.',
  scope: ['webhooks:write', 'events:read'],
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
