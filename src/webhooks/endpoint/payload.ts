import { type EventName, enumValueOf } from '../../events/catalogue/catalogue.ts';
import type { RecordData } from '../../events/catalogue/records.ts';
import type { RecordKind } from '../../events/record.ts';
import type { Webhook } from '../../generated/prisma/client.ts';
import { withoutSecrets } from '../../outbound/target.ts';

/** A webhook as events show it. */
export const webhookRecord = (webhook: Webhook): RecordData<'Webhook'> => ({
  id: webhook.id,
  name: webhook.name,
  url: withoutSecrets(webhook.url),
  events: webhook.events.map((name) => enumValueOf(name as EventName)),
  query: webhook.query,
  enabled: webhook.enabled,
  disabledReason: webhook.disabledReason,
  maxInFlight: webhook.maxInFlight,
  createdAt: webhook.createdAt.toISOString(),
  updatedAt: webhook.updatedAt.toISOString(),
});

/** Webhooks, whose updates are events. */
export const webhooks: RecordKind<'Webhook.Data.Updated', Webhook> = {
  updated: 'Webhook.Data.Updated',
  shown: webhookRecord,
  write: (tx, id, data) =>
    tx.webhook.update({ where: { id }, data: { ...data, revision: { increment: 1 } } }),
};
