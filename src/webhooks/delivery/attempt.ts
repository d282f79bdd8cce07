import type { SpanContext } from '@opentelemetry/api';
import type { GraphQLSchema } from 'graphql';
import type { Agent } from 'undici';
import { toNumericDate } from '../../clock.ts';
import { maxMessageBytes } from '../../events/bounds.ts';
import type { LoggedEvent } from '../../events/log.ts';
import { messageOfText } from '../../events/message.ts';
import { newTraceId } from '../../ids.ts';
import { AttemptAborted, type AttemptResult, post } from '../../outbound/attempt.ts';
import { signatureHeaders } from '../../outbound/signature.ts';
import type { Services } from '../../services.ts';
import { traceparentOf } from '../../tracing/traceparent.ts';
import { inTrace, markFailed, SpanKind } from '../../tracing/tracing.ts';
import type { Creators } from '../endpoint/creators.ts';
import { DocumentRunner, tooLargeResult } from '../endpoint/document.ts';
import type { Endpoint } from '../endpoint/endpoints.ts';
import type { ClaimedDelivery, ClaimedEvent, RecordedAttempt } from './queue.ts';
import { nextAttempt } from './schedule.ts';

/** The outcome of an attempt: the record of it, and the result of the POST. */
export interface DeliveryOutcome extends RecordedAttempt {
  readonly result: AttemptResult;
}

/** Builds a delivery's message, posts it and evaluates the response. */
export class DeliveryAttempts {
  readonly #services: Services;
  readonly #agent: Agent;
  readonly #creators: Creators;
  readonly #documents: DocumentRunner;

  constructor(
    services: Services,
    parts: { readonly schema: GraphQLSchema; readonly agent: Agent; readonly creators: Creators },
  ) {
    this.#services = services;
    this.#agent = parts.agent;
    this.#creators = parts.creators;
    this.#documents = new DocumentRunner(services, parts.schema);
  }

  /**
   * Attempts a delivery once. It never rejects: a failure is an outcome.
   *
   * @returns Undefined if the signal ended it.
   */
  async attempt(
    delivery: ClaimedDelivery,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome | undefined> {
    const { event, id, webhookId, attemptCount } = delivery;
    const attributes = {
      'http.request.method': 'POST',
      'http.request.resend_count': attemptCount,
      'server.address': endpoint.hostname,
      'signet.delivery.id': id,
      'signet.webhook.id': webhookId,
      ...(event && { 'signet.event.id': event.id, 'signet.event.type': event.type }),
    };
    return inTrace(
      event?.traceId ?? newTraceId(),
      'webhook delivery',
      SpanKind.CLIENT,
      attributes,
      async (place, span) => {
        const outcome = await this.#attempt(delivery, endpoint, signal, place);
        const { result } = outcome ?? {};
        if (result?.statusCode) span?.setAttribute('http.response.status_code', result.statusCode);
        if (result && result.outcome !== 'succeeded') markFailed(span, result.outcome);
        return outcome;
      },
    );
  }

  async #attempt(
    delivery: ClaimedDelivery,
    endpoint: Endpoint,
    signal: AbortSignal,
    place: SpanContext,
  ): Promise<DeliveryOutcome | undefined> {
    const at = this.#services.clock.now();
    const prepared = await this.#prepare(delivery, endpoint);
    const result = prepared ? await this.#post(prepared, endpoint, at, signal, place) : unprepared;
    if (!result) return undefined;
    return {
      ...this.#judge(delivery, result, prepared?.queryResult ?? null),
      id: delivery.id,
      webhookId: delivery.webhookId,
      revision: delivery.revision,
      attemptCount: delivery.attemptCount,
      countsForEndpoint: !delivery.isTest && result.outcome !== 'preparation',
      at,
      durationMs: result.durationMs,
      statusCode: result.statusCode,
      responseBody: result.responseBody,
      error: result.error,
      result,
    };
  }

  async #prepare(delivery: ClaimedDelivery, endpoint: Endpoint): Promise<Prepared | undefined> {
    const { event, isTest } = delivery;
    let { queryResult } = delivery;
    try {
      if (!event) throw new Error('The event has left the log.');
      if (endpoint.query !== null) {
        const { scopes, isNarrowed } = await this.#creators.scopesOf(endpoint);
        // The stored result was read with scopes that the creator no longer holds.
        if (isNarrowed) queryResult = null;
        const traceId = event.traceId ?? delivery.id;
        queryResult ??= await this.#documents.run(
          endpoint.query,
          loggedEvent(event),
          scopes,
          traceId,
        );
      }
      let body = Buffer.from(messageOfText(event, queryResult));
      if (queryResult !== null && body.length > maxMessageBytes) {
        queryResult = tooLargeResult;
        body = Buffer.from(messageOfText(event, queryResult));
      }
      return { id: event.id, isTest, body, queryResult };
    } catch (error) {
      const { log } = this.#services;
      log.error({ err: error, deliveryId: delivery.id }, 'a delivery could not be prepared');
      return undefined;
    }
  }

  async #post(
    { id, isTest, body }: Prepared,
    endpoint: Endpoint,
    at: Date,
    signal: AbortSignal,
    place: SpanContext,
  ): Promise<AttemptResult | undefined> {
    const keys = endpoint.secrets
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
      .map(({ key }) => key);
    try {
      return await post(this.#agent, {
        url: endpoint.url,
        headers: {
          ...endpoint.headers,
          'content-type': 'application/json',
          'user-agent': 'Signet-Webhooks/1',
          traceparent: traceparentOf(place),
          ...(isTest ? { 'signet-test': 'true' } : {}),
          ...signatureHeaders(keys, { id, timestamp: toNumericDate(at), body }),
        },
        body,
        timeoutMs: this.#services.config.webhookTimeoutMs,
        signal,
      });
    } catch (error) {
      if (!(error instanceof AttemptAborted)) throw error;
      return undefined;
    }
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
}

interface Prepared {
  /** The event's id. */
  readonly id: string;
  readonly isTest: boolean;
  readonly body: Buffer;
  /** The result of the webhook's query, or null if it has none. */
  readonly queryResult: string | null;
}

const unprepared: AttemptResult = {
  outcome: 'preparation',
  durationMs: 0,
  statusCode: null,
  responseBody: null,
  error: 'the message could not be prepared: the log of the service has the details',
};

const loggedEvent = (event: ClaimedEvent): LoggedEvent => ({
  id: event.id,
  type: event.type,
  occurredAt: event.occurredAt,
  actor: event.actor === null ? null : (JSON.parse(event.actor) as LoggedEvent['actor']),
  data: JSON.parse(event.data) as Record<string, unknown>,
  traceId: event.traceId,
  ip: event.ip,
  userAgent: event.userAgent,
  position: { xid: event.xid, position: BigInt(event.position), eventId: event.id },
});
