import { InvalidInputError, NotFoundError } from '../../errors.ts';
import type { EventName } from '../../events/catalogue.ts';
import { EventTypeEnum } from '../../events/schema.ts';
import type { Prisma, Webhook as WebhookRow } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { addRecordQueries, orders } from '../../graphql/lists/record-queries.ts';
import { addMutation, type InputFields, type PayloadFields } from '../../graphql/mutation.ts';
import { recordMutations } from '../../graphql/record-mutations.ts';
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

addRecordQueries(Webhook, {
  names: ['webhook', 'webhooks'],
  descriptions: {
    one: 'A webhook, or null where there is none with that id.',
    list: 'The webhooks, newest first where no order is asked for.',
    filter: 'Which webhooks to list: those for which every field given holds.',
  },
  scope: 'webhooks:read',
  model: ({ webhook }) => webhook,
  search: { columns: ['name', 'url', 'id'], description: 'the name, the URL or the id' },
  filter: (t) => ({ enabled: t.boolean({ description: 'Is on, or is off.' }) }),
  where: ({ enabled }): Prisma.WebhookWhereInput => ({ enabled: enabled ?? undefined }),
  order: {
    CREATED_AT: { ...orders.byCreation, description: 'By when they were created.' },
    NAME: orders.byName,
  },
});

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

/** The mutations of webhooks. */
export const webhookMutations = recordMutations('webhook', Webhook, { scope: 'webhooks:write' });

const secretPayload = (t: PayloadFields<{ webhook: WebhookRow; secret: string }>) => ({
  ...webhookMutations.payload(t),
  secret: t.exposeString('secret', {
    description: 'The signing secret, `whsec_` and base64, shown this once.',
  }),
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

webhookMutations.add('updateWebhook', {
  description:
    'Changes a webhook, from its next delivery on, which takes `events:read` too. An absent field is left alone, null clears it; with a URL of another origin its query and its headers go, unless they are given again. Who changes where it leads, what it sends, or switches it on answers for it as a creator does. While it is off its deliveries wait. Raises no event.',
  scope: ['webhooks:write', 'events:read'],
  input: (t) => ({
    id: webhookMutations.id(t),
    name: t.string({ description: 'At most 128 characters.' }),
    url: t.field({
      type: 'URL',
      description: 'Where to post to: https, a public address, and no credentials in it.',
    }),
    ...settings(t),
  }),
  errors: [InvalidInputError, NotFoundError],
  operation: (context, input, { schema }) => updateWebhook(context, schema, input),
});

webhookMutations.addDeletion('deleteWebhook', {
  description: 'Deletes a webhook with its deliveries. Raises no event.',
  model: ({ webhook }) => webhook,
  operation: deleteWebhook,
});

addMutation('rotateWebhookSecret', {
  description:
    'Gives a webhook a new signing secret; the old one signs beside it for 24 hours. Raises no event.',
  scope: 'webhooks:write',
  input: (t) => ({ id: webhookMutations.id(t) }),
  payload: secretPayload,
  errors: [NotFoundError],
  resolve: (input, context) => rotateWebhookSecret(context, input),
});
