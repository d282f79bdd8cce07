import { InvalidInputError, NotFoundError } from '../../errors.ts';
import type { EventName } from '../../events/catalogue/catalogue.ts';
import { EventTypeEnum } from '../../events/schema.ts';
import type { Prisma, Webhook as WebhookRow } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { addRecordQueries, orders } from '../../graphql/lists/record-queries.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
} from '../../graphql/mutations/mutation.ts';
import { recordMutations } from '../../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../../graphql/mutations/versions.ts';
import { followWebhook } from './changes.ts';
import { createWebhook, deleteWebhook, rotateWebhookSecret, updateWebhook } from './operations.ts';
import { openHeaders } from './sealed.ts';

/** An endpoint that gets events. */
const Webhook = builder.prismaNode('Webhook', {
  nullable: true,
  id: { field: 'id', description: "The webhook's id: a TypeID with the prefix `hook`." },
  description: 'An endpoint that gets events (https://www.standardwebhooks.com).',
  authScopes: { scope: 'webhooks:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    url: t.expose('url', { type: 'URL', description: 'The URL that events are posted to.' }),
    events: t.field({
      type: [EventTypeEnum],
      description: 'The types of events it gets. Empty: all.',
      select: { events: true },
      resolve: ({ events }) => events as EventName[],
    }),
    query: t.exposeString('query', {
      nullable: true,
      description:
        'The subscription document whose result is the payload. Null: the payload is the whole event.',
    }),
    headers: t.stringList({
      description:
        'The names of the headers that it adds. Their values are not shown, because they may be credentials.',
      select: { id: true, headers: true },
      resolve: (webhook, _args, { cipher }) => Object.keys(openHeaders(cipher, webhook)),
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is enabled.' }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description: 'Why Signet disabled it; null if Signet did not.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when every attempt has failed; null if the latest one succeeded, or there was none. After five days Signet disables it.',
    }),
    maxInFlight: t.exposeInt('maxInFlight', {
      description: 'The most deliveries that are posted to it at once.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

addRecordQueries(Webhook, {
  names: ['webhook', 'webhooks'],
  descriptions: {
    one: 'A webhook, or null if none has that id.',
    list: 'The webhooks, newest first by default.',
    filter: 'Which webhooks to list. A match meets every field that is given.',
  },
  scope: 'webhooks:read',
  search: { columns: ['name', 'url', 'id'], description: 'the name, the URL or the id' },
  filter: (t) => ({ enabled: t.boolean({ description: 'Enabled or disabled webhooks.' }) }),
  where: ({ enabled }): Prisma.WebhookWhereInput => ({ enabled: enabled ?? undefined }),
  order: {
    CREATED_AT: { ...orders.byCreation, description: 'By the time of creation.' },
    NAME: orders.byName,
  },
});

builder.subscriptionFields((t) => ({
  webhook: t.field({
    type: Webhook,
    description:
      'A webhook as it changes from now on: by updates, rotation of its secret, disabling, or once its attempts fail or succeed again. Ends when it is deleted.',
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
    description: 'The signing secret, `whsec_` and base64. It is shown only once.',
  }),
});

const settings = (t: InputFields) => ({
  events: t.field({
    type: [EventTypeEnum],
    description: 'The types of events it gets. Empty or absent: all.',
  }),
  query: t.string({
    description:
      'A subscription document on `events`, without variables. Its result replaces the whole event. It runs with the scopes of the caller of this mutation, which must include `events:read`. At most 20,000 characters. A result with which the message would have more than 256 KiB is replaced by an error, `QUERY_TOO_COMPLEX`.',
  }),
  headers: t.field({
    type: 'JSONObject',
    description:
      'Headers to add, by name, at most 20. Headers that Signet sets are refused (`webhook-*`, `content-*`, `host` and the like).',
  }),
  enabled: t.boolean({ description: 'Whether it is enabled. True by default.' }),
  maxInFlight: t.int({
    description:
      'The most deliveries that are posted to it at once, from 1 to 1000. 10 by default.',
  }),
});

addMutation('createWebhook', {
  description:
    'Creates a webhook. It gets the events that are committed from now on, while it is enabled, but none about itself. Requires `events:read` too. Signet disables the webhook when its creator loses one of the two scopes. Raises `Webhook.Created`.',
  scope: ['webhooks:write', 'events:read'],
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters.' }),
    url: t.field({
      type: 'URL',
      required: true,
      description:
        'The URL to post to. It needs https and a public address, and no credentials in it.',
    }),
    ...settings(t),
  }),
  payload: secretPayload,
  errors: [InvalidInputError],
  resolve: (input, context, { schema }) => createWebhook(context, schema, input),
});

webhookMutations.add('updateWebhook', {
  description:
    'Changes a webhook from its next delivery on. Requires `events:read` too. An absent field stays as it is; null clears it. A URL of another origin removes the query and the headers, unless they are given again. A caller who changes the URL, the query or the headers, or enables the webhook, becomes its creator. Deliveries wait while it is disabled. Raises `Webhook.Data.Updated` if something changed.',
  scope: ['webhooks:write', 'events:read'],
  input: (t) => ({
    id: webhookMutations.id(t),
    name: t.string({ description: 'At most 128 characters.' }),
    url: t.field({
      type: 'URL',
      description:
        'The URL to post to. It needs https and a public address, and no credentials in it.',
    }),
    ...settings(t),
  }),
  errors: [InvalidInputError, NotFoundError],
  operation: (context, input, { schema }) => updateWebhook(context, schema, input),
});

webhookMutations.addDeletion('deleteWebhook', {
  description: 'Deletes a webhook with its deliveries. Raises `Webhook.Deleted`.',
  model: ({ webhook }) => webhook,
  operation: deleteWebhook,
});

addMutation('rotateWebhookSecret', {
  description:
    'Gives a webhook a new signing secret. The old one also signs for 24 hours. Raises `Webhook.Secret.Rotated`.',
  scope: 'webhooks:write',
  input: (t) => ({ id: webhookMutations.id(t) }),
  payload: secretPayload,
  errors: [NotFoundError],
  resolve: (input, context) => rotateWebhookSecret(context, input),
});
