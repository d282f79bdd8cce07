import {
  catalogue,
  dataSchemaOf,
  type EventName,
  eventNames,
  typeNameOf,
} from '../events/catalogue/catalogue.ts';

type Json = Record<string, unknown>;

/**
 * Describes the messages to webhooks, one for each type of event.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html#oas-webhooks
 * @see https://www.standardwebhooks.com
 */
export const openApiWebhooks = (): Json =>
  Object.fromEntries(eventNames.map((name) => [name, { post: describe(name) }]));

/** The components that those descriptions refer to. */
export const openApiWebhookComponents: { readonly [Part in 'parameters' | 'schemas']: Json } = {
  parameters: {
    WebhookId: header(
      'webhook-id',
      "The event's id: the same for all retries. Ignore an id that you have seen.",
    ),
    WebhookTimestamp: header('webhook-timestamp', 'When this attempt was made, in Unix seconds.'),
    WebhookSignature: header(
      'webhook-signature',
      '`v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`; one for each secret that is live, separated by a space.',
    ),
  },
  schemas: {
    EventActor: {
      type: 'object',
      description: 'Who did it.',
      properties: {
        type: { type: 'string', enum: ['USER', 'APPLICATION', 'SYSTEM'] },
        id: { type: ['string', 'null'], description: 'Null for Signet itself.' },
        clientId: { type: 'string', description: 'The application that a user acted through.' },
      },
      required: ['type', 'id'],
    },
  },
};

function describe(name: EventName): Json {
  return {
    operationId: `on${typeNameOf(name)}`,
    summary: name,
    description: catalogue[name].description,
    tags: ['webhooks'],
    // The message is signed and carries no token.
    security: [],
    parameters: Object.keys(openApiWebhookComponents.parameters).map((parameter) => ({
      $ref: `#/components/parameters/${parameter}`,
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: messageSchema(name) } },
    },
    responses: {
      '2XX': { description: 'Delivered. The body is kept up to 4 KiB, for the log of attempts.' },
      410: { description: 'Gone: the webhook is disabled.' },
      '4XX': { description: 'Failed: tried again later, not before `Retry-After`.' },
      '5XX': { description: 'Failed: tried again later, not before `Retry-After`.' },
    },
  };
}

const messageSchema = (name: EventName): Json => ({
  type: 'object',
  properties: {
    id: { type: 'string', description: "The event's id." },
    type: { const: name, description: 'The type of event.' },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
    actor: {
      description: 'Who did it; null if nobody can be named.',
      anyOf: [{ $ref: '#/components/schemas/EventActor' }, { type: 'null' }],
    },
    data: {
      ...dataSchemaOf(name),
      description: "The event's data. For a webhook with a `query`, that document's result.",
    },
  },
  required: ['id', 'type', 'timestamp', 'actor', 'data'],
});

function header(name: string, description: string): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string' } };
}
