import { isDeepStrictEqual } from 'node:util';
import type { GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { commonScopes } from '../../auth/scopes.ts';
import { lockRow } from '../../db/lock.ts';
import { hintAfterCommit, type Transaction, transaction } from '../../db/transaction.ts';
import { type InputIssue, InvalidInputError } from '../../errors.ts';
import { type EventName, eventNames } from '../../events/catalogue/catalogue.ts';
import type { Changes } from '../../events/catalogue/records.ts';
import { changesBetween, recordChange, recordEvent } from '../../events/record.ts';
import type { Webhook } from '../../generated/prisma/client.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { introspectionOptions } from '../../graphql/introspection.ts';
import { newId } from '../../ids.ts';
import { name, notNull, parseInput, patched, text } from '../../input.ts';
import { generateWebhookSecret } from '../../outbound/signature.ts';
import { faultsOfTarget, targetUrl, withoutSecrets } from '../../outbound/target.ts';
import type { Context, Services } from '../../services.ts';
import { checkDocument, DocumentFault } from './document.ts';
import { ownHeaders } from './own-headers.ts';
import { webhookRecord, webhooks } from './payload.ts';
import { beginPeriod } from './periods.ts';
import { openHeaders, sealHeaders, sealSecret } from './sealed.ts';

const rotationMs = 24 * 60 * 60 * 1000;

const events = z
  .array(z.enum(eventNames as [EventName, ...EventName[]]))
  .transform((names) => [...new Set(names)]);
const query = text(20_000);
const maxInFlight = z
  .number()
  .int()
  .min(1, 'must be from 1 to 1000')
  .max(1000, 'must be from 1 to 1000');

/** The input of `createWebhook`. */
export const createWebhookInput = z.object({
  name: name(),
  url: targetUrl,
  events: events.nullish(),
  query: query.nullish(),
  headers: ownHeaders.nullish(),
  enabled: z.boolean().nullish(),
  maxInFlight: maxInFlight.nullish(),
});

/** The context with the caller, who becomes the webhook's creator. */
type WebhookContext = Context & Pick<GraphQLContext, 'caller'>;

/**
 * Creates a webhook. It gets the events that are committed from now on. Raises `Webhook.Created`.
 *
 * @param schema The schema that its query is checked against.
 * @returns The webhook, and its signing secret, which is shown only here.
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
    ...faultsOfQuery(context, schema, input),
  ];
  const { headers, ...values } = parseInput(createWebhookInput, input, faults);
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
        creatorId: context.actor.id,
        grantedScopes: [...scopes],
        createdAt: now,
        updatedAt: now,
      },
    });
    await addSecret(tx, context, id, secret);
    await beginPeriod(tx, id, takenEvents(schema, row));
    const told = await recordEvent(tx, context, 'Webhook.Created', webhookRecord(row));
    return told.with(row);
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

/**
 * The types of events that a webhook gets: those in `events` that its query selects too. Empty: all; null: it is
 * disabled.
 */
export function takenEvents(
  schema: GraphQLSchema,
  { enabled, events: wanted, query: source }: Pick<Webhook, 'enabled' | 'events' | 'query'>,
): readonly string[] | null {
  if (!enabled) return null;
  if (source === null) return wanted;
  const asked = checkDocument(schema, source);
  if (asked === null) return wanted;
  return wanted.length === 0 ? asked : wanted.filter((type) => asked.includes(type as EventName));
}

const faultsOfAddress = (
  { config, resolveHost }: Pick<Services, 'config' | 'resolveHost'>,
  given: string | null | undefined,
): Promise<InputIssue[]> =>
  faultsOfTarget(given, ['url'], { allowPrivate: config.allowPrivateWebhooks, resolveHost });

function faultsOfQuery(
  { config }: Pick<Services, 'config'>,
  schema: GraphQLSchema,
  { query: source, events: wanted }: { query?: string | null; events?: readonly string[] | null },
): InputIssue[] {
  if (source == null) return [];
  const path = ['query'];
  try {
    const asked = checkDocument(schema, source, introspectionOptions(config));
    if (!asked || !wanted || wanted.length === 0) return [];
    if (wanted.some((type) => asked.includes(type as EventName))) return [];
    return [{ path, message: 'asks for none of the types in "events"' }];
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error;
    return error.faults.map((message) => ({ path, message }));
  }
}

const updateWebhookInput = z.object({
  id: z.string(),
  name: notNull(name()),
  url: notNull(targetUrl),
  events: events.nullish(),
  query: query.nullish(),
  headers: ownHeaders.nullish(),
  enabled: notNull(z.boolean()),
  maxInFlight: notNull(maxInFlight),
});

/**
 * Changes a webhook from the next delivery on. Enabling it clears `disabledReason` and sends the waiting deliveries. A
 * URL of another origin removes the query and the headers unless they are given again, because they were not meant for
 * that host. A caller who changes the URL, the query or the headers, or enables the webhook, becomes its creator. A new
 * query runs with that caller's scopes, an old query with the scopes that both hold. Raises `Webhook.Data.Updated` if
 * something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError}
 */
export async function updateWebhook(
  context: WebhookContext,
  schema: GraphQLSchema,
  input: z.input<typeof updateWebhookInput>,
): Promise<Webhook> {
  const { id, headers, ...patch } = parseInput(updateWebhookInput, input, [
    ...(await faultsOfAddress(context, input.url)),
    ...faultsOfQuery(context, schema, { query: input.query }),
  ]);
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Webhook', id);
    const before = await tx.webhook.findUniqueOrThrow({ where: { id } });
    const isSwitchedOn = patch.enabled === true && !before.enabled;
    const isElsewhere = patch.url !== undefined && originOf(patch.url) !== originOf(before.url);
    const newQuery = isElsewhere ? (patch.query ?? null) : patch.query;
    const newHeaders = isElsewhere ? (headers ?? null) : headers;
    const isNewQuery = newQuery !== undefined;
    const isNewUrl = patch.url !== undefined && patch.url !== before.url;
    const isTakenOver =
      isSwitchedOn ||
      isNewUrl ||
      isNewQuery ||
      newHeaders !== undefined ||
      patch.events !== undefined;
    const after = {
      ...patch,
      query: newQuery,
      events: patch.events === null ? [] : patch.events,
      headers:
        newHeaders === undefined ? undefined : sealHeaders(context.cipher, id, newHeaders ?? {}),
      ...(isSwitchedOn && { disabledReason: null, failingSince: null }),
      ...(isTakenOver && takenOver(context, before, patch.query !== undefined)),
    };
    const unshown = unshownChanges(context, before, patched(before, after));
    const told = await recordChange(tx, context, webhooks, before, after, unshown);
    const row = told.result;
    const faults = faultsOfQuery(context, schema, row);
    if (faults.length > 0) throw new InvalidInputError(faults);
    const taken = takenEvents(schema, row);
    if (String(taken) !== String(takenEvents(schema, before)) || row.enabled !== before.enabled) {
      await beginPeriod(tx, id, taken);
    }
    // Read with other scopes, or for another receiver. Those that failed too: they may be delivered once more.
    if (isTakenOver) {
      await tx.delivery.updateMany({
        where: { webhookId: id, status: { in: ['PENDING', 'FAILED'] }, queryResult: { not: null } },
        data: { queryResult: null },
      });
    }
    // Deliveries may have waited for it.
    if (isSwitchedOn) hintAfterCommit(tx, 'queues');
    return told;
  });
}

/** What a webhook keeps of the caller who answers for it from now on. */
function takenOver(
  { actor, caller }: WebhookContext,
  { grantedScopes }: Webhook,
  isNewQuery: boolean,
): Pick<Webhook, 'creatorId' | 'grantedScopes'> {
  const scopes = caller?.scopes ?? new Set<string>();
  const granted = isNewQuery ? [...scopes] : commonScopes(new Set(grantedScopes), scopes);
  return { creatorId: actor.id, grantedScopes: granted };
}

/**
 * What changes of a webhook beside what events show: the query of its URL, its headers, of which events tell the names,
 * and who answers for it.
 */
function unshownChanges(
  { cipher }: Pick<Services, 'cipher'>,
  before: Webhook,
  after: Webhook,
): Changes | undefined {
  const [headers, newHeaders] = [openHeaders(cipher, before), openHeaders(cipher, after)];
  const answering = ({ creatorId, grantedScopes }: Webhook) => ({
    creatorId,
    grantedScopes: [...grantedScopes].sort(),
  });
  const changes = {
    ...(before.url !== after.url && {
      url: { from: withoutSecrets(before.url), to: withoutSecrets(after.url) },
    }),
    ...(!isDeepStrictEqual(headers, newHeaders) && {
      headers: { from: Object.keys(headers), to: Object.keys(newHeaders) },
    }),
    ...changesBetween(answering(before), answering(after)),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

const originOf = (url: string): string => new URL(url).origin;

/**
 * Deletes a webhook with its deliveries. Only attempts that are running now still post to it. Raises `Webhook.Deleted`.
 *
 * @returns The webhook as it was before.
 * @throws {NotFoundError}
 */
export async function deleteWebhook(context: Context, { id }: { id: string }): Promise<Webhook> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Webhook', id);
    hintAfterCommit(tx, 'queues');
    const webhook = await tx.webhook.delete({ where: { id } });
    const told = await recordEvent(tx, context, 'Webhook.Deleted', webhookRecord(webhook));
    return told.with(webhook);
  });
}

/**
 * Gives a webhook a new secret. Its earlier secrets also sign for 24 hours. Raises `Webhook.Secret.Rotated`.
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
    const told = await recordEvent(tx, context, 'Webhook.Secret.Rotated', { webhookId: id });
    return told.with(
      tx.webhook.update({
        where: { id },
        data: { revision: { increment: 1 }, updatedAt: now },
      }),
    );
  });
  return { webhook, secret };
}
