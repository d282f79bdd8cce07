import type { Claimed, ClaimRequest, Claims, Work } from '../../dispatch/work.ts';
import type { Services } from '../../services.ts';
import type { Creators } from '../endpoint/creators.ts';
import { type Endpoint, Endpoints } from '../endpoint/endpoints.ts';
import { switchOff } from '../endpoint/switch-off.ts';
import type { DeliveryAttempts, DeliveryOutcome } from './attempt.ts';
import type { OutcomeNotes } from './failing.ts';
import type { DeliveryMetrics } from './metrics.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  nextDeliveryAt,
  recordAttempts,
  releaseDeliveries,
  renewLeases,
} from './queue.ts';

// The most deliveries that one node posts at once. Beyond it, each webhook may still have its free places.
const maxInFlight = 5000;

/** A claimed delivery with its endpoint. Its line is the webhook's id. */
export interface DeliveryItem extends Claimed {
  readonly delivery: ClaimedDelivery;
  readonly endpoint: Endpoint;
}

/** The work of a dispatcher of deliveries. */
export function deliveryWork(
  services: Services,
  parts: {
    readonly attempts: DeliveryAttempts;
    readonly creators: Creators;
    readonly notes: OutcomeNotes;
    readonly metrics: DeliveryMetrics;
  },
): Work<DeliveryItem, DeliveryOutcome> {
  const { log, database } = services;
  const { prisma } = database;
  const { attempts, creators, notes, metrics } = parts;
  const endpoints = new Endpoints(services);
  return {
    name: 'deliveries',
    maxInFlight,
    async claim(request) {
      await creators.check();
      return claimItems(database, endpoints, request);
    },
    // After a skipped check it is asked again: rights may have changed since the last one.
    nextDueAt: async () => ((await creators.check()) ? nextDeliveryAt(prisma) : undefined),
    attempt: ({ delivery, endpoint }, signal) => attempts.attempt(delivery, endpoint, signal),
    async follow({ delivery, endpoint }, { result }) {
      metrics.attempts.inc({ outcome: result.outcome });
      // Without a message nothing was posted.
      if (result.outcome !== 'preparation') metrics.durations.observe(result.durationMs / 1000);
      logAttempt(log, delivery, result);
      if (result.statusCode !== 410 || delivery.isTest) return;
      const reason = 'The endpoint answered 410 Gone.';
      await switchOff(services, delivery.webhookId, reason, endpoint.revision).catch(
        (error: unknown) => log.error({ err: error }, 'a webhook could not be switched off'),
      );
    },
    async record(node, now, outcomes) {
      await recordAttempts(
        database,
        node,
        now,
        outcomes.map(({ result: _, ...recorded }) => recorded),
      );
      notes.add(outcomes);
    },
    renew: (node, now, { over }) => renewLeases(prisma, node, now, over),
    release: (node) => releaseDeliveries(prisma, node),
  };
}

async function claimItems(
  database: Services['database'],
  endpoints: Endpoints,
  { lines, ...request }: ClaimRequest,
): Promise<Claims<DeliveryItem>> {
  const { claimed, missed } = await claimDeliveries(database, { ...request, webhookIds: lines });
  const known = await endpoints.get(claimed);
  const items = claimed.flatMap((delivery) => {
    const endpoint = known.get(delivery.webhookId);
    // The webhook was deleted after the claim, with its deliveries.
    if (!endpoint) return [];
    return [{ id: delivery.id, line: delivery.webhookId, delivery, endpoint }];
  });
  return { claimed: items, missed, isFull: claimed.length >= request.room };
}

const logAttempt = (
  log: Services['log'],
  { id, webhookId, attemptCount, event }: ClaimedDelivery,
  { outcome, statusCode, durationMs }: DeliveryOutcome['result'],
) =>
  log.info(
    {
      traceId: event?.traceId,
      webhookId,
      eventId: event?.id,
      deliveryId: id,
      attempt: attemptCount + 1,
      outcome,
      statusCode: statusCode ?? undefined,
      durationMs,
    },
    'webhook attempt',
  );
