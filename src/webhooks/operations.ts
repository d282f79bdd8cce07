import type { GraphQLSchema } from 'graphql';
import { z } from 'zod';
import type { Context, Services } from '../auth/context.ts';
import { allows, type ManagementScope } from '../auth/scopes.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { type InputIssue, InvalidInputError } from '../errors.ts';
import { type EventName, eventNames } from '../events/catalogue.ts';
import type { Webhook } from '../generated/prisma/client.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { newId } from '../ids.ts';
import { name, notNull, parseInput, text } from '../input.ts';
import { AddressRefused, hostOf, resolvePublic } from './address.ts';
import { checkDocument, DocumentFault } from './document.ts';
import { ownHeaders } from './own-headers.ts';
import { beginPeriod } from './periods.ts';
import { sealHeaders, sealSecret } from './sealed.ts';
import { generateWebhookSecret } from './signature.ts';

const rotationMs = 24 * 60 * 60 * 1000;
// A resolver that does not answer must not hold the form: the address is checked again at each connection.
const resolveTimeoutMs = 2000;

const url = text(2048)
  // The parser leaves out some of what does not belong into a URL, and would read another than was meant.
  .refine(
    (value) => URL.canParse(value) && /^[a-z]+:\/\/[^\s\p{Cc}]*$/iu.test(value),
    'must be an absolute URL',
  )
  .refine(
    (value) => !URL.canParse(value) || /^https?:$/.test(new URL(value).protocol),
    'must be an https URL',
  )
  .refine((value) => {
    if (!URL.canParse(value)) return true;
    const { username, password } = new URL(value);
    return username === '' && password === '';
  }, 'must not hold credentials: give them as a header');
const events = z
  .array(z.enum(eventNames as [EventName, ...EventName[]]))
  .transform((names) => [...new Set(names)]);
const query = text(20_000);
const maxInFlight = z
  .number()
  .int()
  .min(1, 'must be from 1 to 1000')
  .max(1000, 'must be from 1 to 1000');

const createWebhookInput = z.object({
  name: name(),
  url,
  events: events.nullish(),
  query: query.nullish(),
  headers: ownHeaders.nullish(),
  enabled: z.boolean().nullish(),
  maxInFlight: maxInFlight.nullish(),
});

/** What an operation on webhooks needs beside the context: the schema that queries are checked against. */
type WebhookContext = Context & Pick<GraphQLContext, 'caller'>;

/**
 * Creates a webhook, which takes events committed from now on.
 *
 * @param schema What its query is checked against.
 * @returns The webhook, and its signing secret, which cannot be read again.
 * @throws {InvalidInputError}
 */
export async function createWebhook(
  context: WebhookContext,
  schema: GraphQLSchema,
  input: z.input<typeof createWebhookInput>,
): Promise<{ webhook: Webhook; secret: string }> {
  const scopes = context.caller?.scopes ?? new Set<string>();
  const faults = [
    ...(await faultsOfAddress(context, input.url)),
    ...faultsOfQuery(schema, scopes, input),
  ];
  const { headers, ...values } = parseWith(createWebhookInput, input, faults);
  const id = newId('Webhook');
  const secret = generateWebhookSecret();
  const webhook = await transaction(context.database, async (tx) => {
    const now = context.clock.now();
    const row = await tx.webhook.create({
      data: {
        id,
        name: values.name,
        url: values.url,
        events: values.events ?? [],
        query: values.query ?? null,
        headers: sealHeaders(context.cipher, id, headers ?? {}),
        enabled: values.enabled ?? true,
        maxInFlight: values.maxInFlight ?? 10,
        grantedScopes: [...scopes],
        createdAt: now,
        updatedAt: now,
      },
    });
    await addSecret(tx, context, id, secret);
    await beginPeriod(tx, id, takenEvents(schema, row));
    return row;
  });
  return { webhook, secret };
}

async function addSecret(
  tx: Transaction,
  { cipher, clock }: Pick<Services, 'cipher' | 'clock'>,
  webhookId: string,
  secret: string,
): Promise<void> {
  const id = newId('WebhookSecret');
  await tx.webhookSecret.create({
    data: { id, webhookId, secret: sealSecret(cipher, id, secret), createdAt: clock.now() },
  });
}

/** What a webhook takes: of what it asks for, that which its query asks for too; null where it is off. */
export function takenEvents(
  schema: GraphQLSchema,
  { enabled, events: wanted, query: source }: Pick<Webhook, 'enabled' | 'events' | 'query'>,
): readonly string[] | null {
  if (!enabled) return null;
  if (source === null) return wanted;
  const asked = checkDocument(schema, source, new Set(['events:read']));
  if (asked === null) return wanted;
  return wanted.length === 0 ? asked : wanted.filter((type) => asked.includes(type as EventName));
}

async function faultsOfAddress(
  { config, resolveHost }: Pick<Services, 'config' | 'resolveHost'>,
  given: string | null | undefined,
): Promise<InputIssue[]> {
  if (given == null || !URL.canParse(given) || config.allowPrivateWebhooks) return [];
  const target = new URL(given);
  const path = ['url'];
  if (target.protocol === 'http:') return [{ path, message: 'must be an https URL' }];
  const timeout = AbortSignal.timeout(resolveTimeoutMs);
  try {
    await Promise.race([
      resolvePublic(resolveHost, hostOf(target)),
      new Promise((resolve) => timeout.addEventListener('abort', resolve, { once: true })),
    ]);
    return [];
  } catch (error) {
    // A name that does not resolve yet may do so when there is something to deliver.
    if (!(error instanceof AddressRefused)) return [];
    return [{ path, message: 'must lead to a public address' }];
  }
}

function faultsOfQuery(
  schema: GraphQLSchema,
  scopes: ReadonlySet<string>,
  { query: source, events: wanted }: { query?: string | null; events?: readonly string[] | null },
): InputIssue[] {
  if (source == null) return [];
  const path = ['query'];
  try {
    const asked = checkDocument(schema, source, scopes);
    if (!asked || !wanted || wanted.length === 0) return [];
    if (wanted.some((type) => asked.includes(type as EventName))) return [];
    return [{ path, message: 'asks for none of the types in "events"' }];
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error;
    return error.faults.map((message) => ({ path, message }));
  }
}

/** Parses an input, and refuses it with all faults at once: its own, and those found otherwise. */
function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  faults: readonly InputIssue[],
): z.output<Schema> {
  try {
    const parsed = parseInput(schema, input);
    if (faults.length > 0) throw new InvalidInputError(faults);
    return parsed;
  } catch (error) {
    if (!(error instanceof InvalidInputError) || error.issues === faults) throw error;
    throw new InvalidInputError([...error.issues, ...faults]);
  }
}

const updateWebhookInput = z.object({
  id: z.string(),
  name: notNull(name()),
  url: notNull(url),
  events: events.nullish(),
  query: query.nullish(),
  headers: ownHeaders.nullish(),
  enabled: notNull(z.boolean()),
  maxInFlight: notNull(maxInFlight),
});

/**
 * Changes a webhook, from the next delivery on. Switching it on ends the reason why it was off and lets the
 * deliveries that waited go out. Who gives it a query answers for that query: it runs with their scopes from then
 * on. Who changes the URL alone can lead there only what they could read too.
 *
 * @throws {InvalidInputError} {@link NotFoundError}
 */
export async function updateWebhook(
  context: WebhookContext,
  schema: GraphQLSchema,
  input: z.input<typeof updateWebhookInput>,
): Promise<Webhook> {
  const scopes = context.caller?.scopes ?? new Set<string>();
  const { id, headers, ...patch } = parseWith(updateWebhookInput, input, [
    ...(await faultsOfAddress(context, input.url)),
    ...faultsOfQuery(schema, scopes, { query: input.query }),
  ]);
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Webhook', id);
    const before = await tx.webhook.findUniqueOrThrow({ where: { id } });
    const isSwitchedOn = patch.enabled === true && !before.enabled;
    const isNewQuery = patch.query !== undefined;
    const isNewUrl = patch.url !== undefined && patch.url !== before.url;
    const row = await tx.webhook.update({
      where: { id },
      data: {
        ...patch,
        ...(patch.events === null ? { events: [] } : { events: patch.events }),
        ...(headers === undefined
          ? {}
          : { headers: sealHeaders(context.cipher, id, headers ?? {}) }),
        ...(isSwitchedOn ? { disabledReason: null, failingSince: null } : {}),
        ...(isNewQuery
          ? { grantedScopes: [...scopes] }
          : isNewUrl
            ? { grantedScopes: commonScopes(new Set(before.grantedScopes), scopes) }
            : {}),
        revision: { increment: 1 },
        updatedAt: context.clock.now(),
      },
    });
    const faults = faultsOfQuery(schema, new Set(['all']), row);
    if (faults.length > 0) throw new InvalidInputError(faults);
    const taken = takenEvents(schema, row);
    if (String(taken) !== String(takenEvents(schema, before)) || row.enabled !== before.enabled) {
      await beginPeriod(tx, id, taken);
    }
    if (isNewQuery) {
      await tx.delivery.updateMany({
        where: { webhookId: id, status: 'PENDING', queryResult: { not: null } },
        data: { queryResult: null },
      });
    }
    return row;
  });
}

/** The scopes that both hold, where a wider one holds the narrower. */
const commonScopes = (some: ReadonlySet<string>, others: ReadonlySet<string>): string[] => [
  ...new Set([
    ...[...some].filter((scope) => allows(others, scope as ManagementScope)),
    ...[...others].filter((scope) => allows(some, scope as ManagementScope)),
  ]),
];

/**
 * Deletes a webhook with its deliveries: nothing more is posted to it but what is under way.
 *
 * @returns The webhook as it last was.
 * @throws {NotFoundError}
 */
export async function deleteWebhook(context: Context, { id }: { id: string }): Promise<Webhook> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Webhook', id);
    return tx.webhook.delete({ where: { id } });
  });
}

/**
 * Gives a webhook a new secret. Those it had sign too for 24 hours.
 *
 * @throws {NotFoundError}
 */
export async function rotateWebhookSecret(
  context: Context,
  { id }: { id: string },
): Promise<{ webhook: Webhook; secret: string }> {
  const secret = generateWebhookSecret();
  const webhook = await transaction(context.database, async (tx) => {
    await lockRow(tx, 'Webhook', id);
    const now = context.clock.now();
    await tx.webhookSecret.deleteMany({ where: { webhookId: id, expiresAt: { lte: now } } });
    await tx.webhookSecret.updateMany({
      where: { webhookId: id, expiresAt: null },
      data: { expiresAt: new Date(now.getTime() + rotationMs) },
    });
    await addSecret(tx, context, id, secret);
    return tx.webhook.update({
      where: { id },
      data: { revision: { increment: 1 }, updatedAt: now },
    });
  });
  return { webhook, secret };
}
