import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { GraphQLSchema } from 'graphql';
import type { Agent } from 'undici';
import type { Services } from '../auth/context.ts';
import { toNumericDate } from '../clock.ts';
import type { LoggedEvent } from '../events/log.ts';
import type { Tail } from '../events/tail.ts';
import { createAgent } from './agent.ts';
import { AttemptAborted, type AttemptResult, post } from './attempt.ts';
import { DocumentRunner } from './document.ts';
import { type Endpoint, Endpoints } from './endpoints.ts';
import { OutcomeNotes, switchOff } from './failing.ts';
import { fanOut, registerConsumer } from './fan-out.ts';
import { createLoop, type Loop } from './loop.ts';
import { type DeliveryMetrics, registerMetrics } from './metrics.ts';
import {
  type ClaimedDelivery,
  type ClaimedEvent,
  claimDeliveries,
  type RecordedAttempt,
  recordAttempts,
  releaseDeliveries,
  renewLeases,
} from './queue.ts';
import { nextAttempt } from './schedule.ts';
import { signatureHeaders } from './signature.ts';

const pollMs = 1000;
// Several times within a lease, so that one that fails does not matter.
const renewMs = 4000;
// Between looks for work where hints come all the time: what comes meanwhile is done in one go.
const restMs = 20;
// Sockets and bodies that one node holds at once, whatever the webhooks allow; beyond it, each may have very few.
const maxInFlight = 5000;
// How long a stop waits for attempts under way before it puts their deliveries back.
const stopGraceMs = 5000;

/** What brings events to webhooks on this node. */
export interface Dispatcher {
  /** Looks for work now; without it, once a second. */
  wake(): void;
  /** Claims nothing more; what is under way ends within seconds or is put back. */
  stop(): Promise<void>;
}

/** Starts to make deliveries of the log's events and to post them. */
export async function startDispatcher(
  services: Services,
  schema: GraphQLSchema,
  tail: Pick<Tail, 'onSettled'>,
): Promise<Dispatcher> {
  await registerConsumer(services.database.prisma);
  const dispatcher = new WebhookDispatcher(services, schema, tail);
  dispatcher.wake();
  return dispatcher;
}

interface InFlight {
  readonly webhookId: string;
  /** Until the attempt has ended; then it waits to be recorded. */
  readonly attempt: Promise<void>;
}

class WebhookDispatcher implements Dispatcher {
  readonly #services: Services;
  readonly #agent: Agent;
  readonly #endpoints: Endpoints;
  readonly #documents: DocumentRunner;
  readonly #metrics: DeliveryMetrics;
  readonly #fanOut: Loop;
  readonly #deliver: Loop;
  readonly #notes: OutcomeNotes;
  readonly #poll: NodeJS.Timeout;
  readonly #renewal: NodeJS.Timeout;
  readonly #stopListening: () => void;
  readonly #stopping = new AbortController();
  /** This node, among all that ever claim deliveries. */
  readonly #node = randomUUID();
  readonly #inFlight = new Map<string, InFlight>();
  #ended: RecordedAttempt[] = [];
  #recordFailed = false;
  /** What was recorded since the last renewal, and since the one before. */
  #recorded = new Set<string>();
  #recordedBefore = new Set<string>();
  #isStopping = false;
  #soon: NodeJS.Timeout | undefined;
  /** The webhooks that may have deliveries that are due. */
  #toClaim = new Set<string>();
  #toClaimAll = true;

  constructor(services: Services, schema: GraphQLSchema, tail: Pick<Tail, 'onSettled'>) {
    const { log, config } = services;
    this.#services = services;
    this.#agent = createAgent({
      allowPrivate: config.allowPrivateWebhooks,
      resolveHost: services.resolveHost,
      timeoutMs: config.webhookTimeoutMs,
    });
    this.#endpoints = new Endpoints(services);
    this.#documents = new DocumentRunner(services, schema);
    this.#notes = new OutcomeNotes(services);
    this.#metrics = registerMetrics(services, () => this.#inFlight.size);
    this.#fanOut = createLoop(
      () => this.#makeDeliveries(),
      (error) => log.error({ err: error }, 'deliveries could not be made'),
    );
    this.#deliver = createLoop(
      async () => {
        const startedAt = performance.now();
        await this.#recordAndClaim();
        // An embedded database holds this thread as it works: half the time belongs to the posting.
        const elapsedMs = services.database.kind === 'embedded' ? performance.now() - startedAt : 1;
        await delay(Math.min(elapsedMs, restMs));
      },
      (error) => log.error({ err: error }, 'deliveries could not be claimed or recorded'),
    );
    this.#poll = setInterval(() => this.wake(), pollMs);
    this.#renewal = setInterval(() => void this.#renew(), renewMs);
    const stopFollowing = tail.onSettled(() => this.#fanOut.wake());
    // What was asked for by hand is in no log.
    const stopHints = services.database.hints.listen(() => {
      this.#toClaimAll = true;
      this.#deliverSoon();
    });
    this.#stopListening = () => {
      stopFollowing();
      stopHints();
    };
  }

  wake(): void {
    this.#toClaimAll = true;
    this.#fanOut.wake();
    this.#deliver.wake();
  }

  async stop(): Promise<void> {
    const { log, database } = this.#services;
    this.#isStopping = true;
    clearInterval(this.#poll);
    clearTimeout(this.#soon);
    this.#stopListening();
    await this.#fanOut.stop();
    const timer = setTimeout(() => this.#stopping.abort(), stopGraceMs);
    // A claim under way may add some.
    for (let last = -1; last !== this.#inFlight.size; ) {
      last = this.#inFlight.size;
      await this.#deliver.stop();
      await Promise.all([...this.#inFlight.values()].map(({ attempt }) => attempt));
    }
    clearTimeout(timer);
    clearInterval(this.#renewal);
    await this.#record();
    await this.#notes.stop();
    await releaseDeliveries(database.prisma, this.#node);
    const cut = this.#inFlight.size;
    if (cut > 0) log.info({ deliveries: cut }, 'deliveries in flight were put back');
    await this.#agent.destroy();
  }

  async #makeDeliveries(): Promise<void> {
    let hasMore = true;
    while (hasMore && !this.#isStopping) {
      const made = await fanOut(this.#services);
      for (const id of made.webhookIds) this.#toClaim.add(id);
      if (made.webhookIds.length > 0) this.#deliver.wake();
      ({ hasMore } = made);
    }
    await delay(restMs);
  }

  #deliverSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#deliver.wake();
    }, restMs);
  }

  // At once: what a claim needs to know of those being recorded, it is told. Where they could not be recorded, none
  // are claimed, or they would be more and more.
  async #recordAndClaim(): Promise<void> {
    if (this.#recordFailed) await this.#record();
    const ended = new Set(this.#ended.map(({ id }) => id));
    const [recorded, claimed] = await Promise.allSettled([this.#record(), this.#claim(ended)]);
    for (const outcome of [recorded, claimed]) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
  }

  async #claim(ended: ReadonlySet<string>): Promise<void> {
    if (this.#isStopping || (!this.#toClaimAll && this.#toClaim.size === 0)) return;
    const room = Math.max(0, maxInFlight - (this.#inFlight.size - ended.size));
    const webhookIds = this.#toClaimAll ? undefined : [...this.#toClaim];
    this.#toClaimAll = false;
    this.#toClaim.clear();
    const { claimed, missed } = await claimDeliveries(this.#services.database.prisma, {
      node: this.#node,
      now: this.#services.clock.now(),
      underWay: this.#underWay(webhookIds, ended),
      webhookIds,
      room,
    });
    if (missed.length > 0) {
      for (const id of missed) this.#toClaim.add(id);
      this.#deliverSoon();
    }
    // There may be more, for which an attempt that ends makes room.
    if (claimed.length >= room) {
      if (webhookIds) for (const id of webhookIds) this.#toClaim.add(id);
      else this.#toClaimAll = true;
    }
    const endpoints = await this.#endpoints.get(claimed);
    for (const delivery of claimed) {
      const { id, webhookId } = delivery;
      const endpoint = endpoints.get(webhookId);
      // Gone since the claim, and its deliveries with it.
      if (!endpoint) continue;
      this.#inFlight.set(id, { webhookId, attempt: this.#attempt(delivery, endpoint) });
    }
  }

  async #renew(): Promise<void> {
    // A claim beside the record writes down what is recorded as under way once more; after two renewals none can.
    const over = [...this.#recorded.union(this.#recordedBefore)].filter(
      (id) => !this.#inFlight.has(id),
    );
    this.#recordedBefore = this.#recorded;
    this.#recorded = new Set();
    if (this.#inFlight.size === 0 && over.length === 0) return;
    const { database, clock, log } = this.#services;
    await renewLeases(database.prisma, this.#node, clock.now(), over).catch((error: unknown) =>
      log.error({ err: error }, 'deliveries under way may be posted by another node too'),
    );
  }

  #underWay(
    webhookIds: readonly string[] | undefined,
    ended: ReadonlySet<string>,
  ): Record<string, { ids: string[]; ended: number }> {
    const wanted = webhookIds && new Set(webhookIds);
    const underWay: Record<string, { ids: string[]; ended: number }> = {};
    for (const [id, { webhookId }] of this.#inFlight) {
      if (wanted && !wanted.has(webhookId)) continue;
      underWay[webhookId] ??= { ids: [], ended: 0 };
      underWay[webhookId].ids.push(id);
      if (ended.has(id)) underWay[webhookId].ended += 1;
    }
    return underWay;
  }

  async #attempt(delivery: ClaimedDelivery, endpoint: Endpoint): Promise<void> {
    const { log, clock } = this.#services;
    const at = clock.now();
    const { result, queryResult } = await this.#post(delivery, endpoint, at);
    // Put back when all have ended.
    if (!result) return;
    this.#ended.push({
      ...this.#judge(delivery, result, queryResult),
      id: delivery.id,
      webhookId: delivery.webhookId,
      attemptCount: delivery.attemptCount,
      tellsOfEndpoint: !delivery.isTest && result.outcome !== 'preparation',
      at,
      durationMs: result.durationMs,
      statusCode: result.statusCode,
      responseBody: result.responseBody,
      error: result.error,
    });
    this.#metrics.attempts.inc({ outcome: result.outcome });
    log.info(
      {
        traceId: delivery.event?.traceId,
        webhookId: delivery.webhookId,
        eventId: delivery.event?.id,
        deliveryId: delivery.id,
        attempt: delivery.attemptCount + 1,
        outcome: result.outcome,
        statusCode: result.statusCode ?? undefined,
        durationMs: result.durationMs,
      },
      'webhook attempt',
    );
    if (result.statusCode === 410 && !delivery.isTest) {
      const reason = 'The endpoint answered 410 Gone.';
      await switchOff(this.#services, delivery.webhookId, reason, endpoint.revision).catch(
        (error: unknown) => log.error({ err: error }, 'a webhook could not be switched off'),
      );
    }
    this.#toClaim.add(delivery.webhookId);
    this.#deliver.wake();
  }

  #judge(
    delivery: ClaimedDelivery,
    result: AttemptResult,
    queryResult: string | null,
  ): Pick<RecordedAttempt, 'status' | 'nextAttemptAt' | 'queryResult'> {
    if (result.outcome === 'succeeded') {
      return { status: 'SUCCEEDED', nextAttemptAt: null, queryResult: null };
    }
    const isLast = delivery.isTest || result.statusCode === 410 || delivery.event === null;
    const nextAttemptAt = isLast
      ? null
      : nextAttempt(this.#services.clock.now(), delivery.attemptCount + 1, result.retryAfter);
    return { status: nextAttemptAt ? 'PENDING' : 'FAILED', nextAttemptAt, queryResult };
  }

  async #post(
    delivery: ClaimedDelivery,
    endpoint: Endpoint,
    at: Date,
  ): Promise<{ result: AttemptResult | undefined; queryResult: string | null }> {
    const { event } = delivery;
    let { queryResult } = delivery;
    try {
      if (!event) throw new Error('The event has left the log.');
      if (endpoint.query !== null) {
        queryResult ??= await this.#documents.run(
          endpoint.query,
          loggedEvent(event),
          endpoint.grantedScopes,
          event.traceId ?? delivery.id,
        );
      }
    } catch (error) {
      const { log } = this.#services;
      log.error({ err: error, deliveryId: delivery.id }, 'a delivery could not be prepared');
      return { result: unprepared, queryResult: null };
    }
    const body = bodyOf(event, queryResult);
    const keys = endpoint.secrets
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
      .map(({ key }) => key);
    try {
      const result = await post(this.#agent, {
        url: endpoint.url,
        headers: {
          ...endpoint.headers,
          'content-type': 'application/json',
          'user-agent': 'Signet-Webhooks/1',
          ...(delivery.isTest ? { 'signet-test': 'true' } : {}),
          ...signatureHeaders(keys, { id: event.id, timestamp: toNumericDate(at), body }),
        },
        body,
        timeoutMs: this.#services.config.webhookTimeoutMs,
        signal: this.#stopping.signal,
      });
      return { result, queryResult };
    } catch (error) {
      if (!(error instanceof AttemptAborted)) throw error;
      return { result: undefined, queryResult: null };
    }
  }

  async #record(): Promise<void> {
    const attempts = this.#ended;
    if (attempts.length === 0) return;
    const { database, clock } = this.#services;
    this.#ended = [];
    try {
      await recordAttempts(database.prisma, this.#node, clock.now(), attempts);
      this.#recordFailed = false;
    } catch (error) {
      this.#recordFailed = true;
      this.#ended = [...attempts, ...this.#ended];
      throw error;
    }
    for (const { id } of attempts) {
      this.#inFlight.delete(id);
      this.#recorded.add(id);
    }
    this.#notes.add(attempts);
  }
}

const unprepared = {
  outcome: 'preparation',
  durationMs: 0,
  statusCode: null,
  responseBody: null,
  error: 'the message could not be prepared: the log of the service has the details',
} as const;

const loggedEvent = (event: ClaimedEvent): LoggedEvent => ({
  id: event.id,
  type: event.type,
  occurredAt: event.occurredAt,
  actor: event.actor === null ? null : (JSON.parse(event.actor) as LoggedEvent['actor']),
  data: JSON.parse(event.data) as Record<string, unknown>,
  traceId: event.traceId,
  position: { xid: event.xid, position: BigInt(event.position) },
});

/** The message: the JSON of the log goes into it as text, unparsed. */
function bodyOf(event: ClaimedEvent, queryResult: string | null): Buffer {
  const { id, type, occurredAt, actor, data } = event;
  const head = JSON.stringify({ id, type, timestamp: occurredAt });
  const tail = queryResult === null ? `"data":${data}}` : queryResult.slice(1);
  return Buffer.from(`${head.slice(0, -1)},"actor":${actor ?? 'null'},${tail}`);
}
