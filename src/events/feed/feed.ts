import type { ExecutionResult } from 'graphql';
import { addGauge, counterOf } from '../../metrics/metrics.ts';
import type { Services } from '../../services.ts';
import type { Tail } from '../tail.ts';
import { Group } from './group.ts';
import { groupKey } from './group-key.ts';
import { type EventOperation, executor } from './results.ts';
import { type ResultSink, Subscriber } from './subscriber.ts';

/** Serves all subscriptions to the event log from the process's one tail. */
export interface EventFeed {
  /**
   * Begins a subscription. It gets the events after its cursor first, then new events, each once and in order.
   *
   * @returns A function that ends the subscription.
   */
  open(operation: EventOperation, sink: ResultSink): () => void;
}

/**
 * Creates the feed.
 *
 * @param format Masks errors in an execution's result and serializes it, as for queries.
 */
export function createFeed(
  services: Services,
  tail: Tail,
  format: (result: ExecutionResult, traceId: string) => string,
): EventFeed {
  const { database, log, metrics } = services;
  const resultsOf = executor(services, format);
  const groups = new Map<string, Group>();
  let subscribers = 0;

  addGauge(metrics, 'signet_subscribers', (gauge) => gauge.set(subscribers));
  addGauge(metrics, 'signet_subscriber_groups', (gauge) => gauge.set(groups.size));
  const dropped = counterOf(metrics, 'signet_dropped_subscribers_total');

  function join(operation: EventOperation, subscriber: Subscriber): Group {
    const key = groupKey(operation);
    const group =
      groups.get(key) ?? new Group(operation, tail, resultsOf, () => groups.delete(key));
    groups.set(key, group);
    group.add(subscriber);
    return group;
  }

  const surroundings = {
    prisma: database.prisma,
    tail,
    resultsOf,
    join,
    onDrop: () => dropped.inc(),
    onClose: () => {
      subscribers -= 1;
    },
  };
  return {
    open(operation, sink) {
      subscribers += 1;
      const subscriber = new Subscriber(surroundings, operation, sink);
      log.debug({ actor: operation.caller.actor.id }, 'a subscription to the event log began');
      return () => subscriber.close();
    },
  };
}
