import type { ServerResponse } from 'node:http';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { Gauge } from 'prom-client';
import type { Caller } from '../auth/caller.ts';
import type { Services } from '../auth/context.ts';
import { startTokenWatch } from '../auth/token-watch.ts';
import type { EventName } from '../events/catalogue.ts';
import type { EventFeed } from '../events/feed.ts';
import type { EventRequest, GraphQLContext } from '../graphql/context.ts';
import { costFault } from '../graphql/cost.ts';
import { requestError } from '../graphql/request-error.ts';
import { endable } from './endable.ts';
import { ResultStream } from './result-stream.ts';

/** Connections that stay open: WebSockets, and streams of server-sent events. */
export interface Connections {
  /**
   * Counts a connection in.
   *
   * @param end Ends it at a stop.
   * @returns Counts it out; undefined where there are as many as may be.
   */
  enter(end: () => void): (() => void) | undefined;
  /** Calls back once a caller's token is no longer good. */
  watch(caller: Caller, onFault: (fault: string) => void): () => void;
  /** Ends all of them; none is let in any more. */
  stop(): Promise<void>;
}

/** Begins to count connections. */
export function createConnections(services: Services): Connections {
  const { config, metrics } = services;
  const open = new Set<() => void>();
  const tokens = startTokenWatch(services);
  let isStopped = false;
  new Gauge({
    name: 'signet_connections',
    help: 'WebSockets and streams of server-sent events that are open in this process.',
    registers: [metrics],
    collect() {
      this.set(open.size);
    },
  });
  return {
    enter(end) {
      if (isStopped || open.size >= config.maxConnections) return undefined;
      const entry = () => end();
      open.add(entry);
      return () => void open.delete(entry);
    },
    watch: tokens.watch,
    async stop() {
      isStopped = true;
      for (const end of [...open]) end();
      await tokens.stop();
    },
  };
}

/** What a transport that is not HTTP gives an operation along. */
export interface Transport {
  /** Where results on the event log go. */
  readonly stream: ResultStream;
}

/**
 * Serves subscriptions over every transport: keeps them within the limits, hands those on the event log to the feed,
 * and ends those over HTTP with the token that they came with.
 */
export function subscriptionPlugin(feed: EventFeed, connections: Connections): Plugin {
  return {
    onSubscribe({ subscribeFn, setSubscribeFn }) {
      setSubscribeFn(async (args: ExecutionArgs) => {
        const fault = costFault(args);
        if (fault) return { errors: [fault] };
        const context = args.contextValue as GraphQLContext & {
          readonly transport?: Transport;
          readonly res?: ServerResponse;
        };
        let request: EventRequest | undefined;
        const contextValue = {
          ...context,
          requestEvents(asked: EventRequest) {
            request = asked;
          },
        };
        let results = (await subscribeFn({ ...args, contextValue })) as
          | ExecutionResult
          | AsyncGenerator<unknown>;
        const { caller, transport, res } = context;
        if (!isAsyncIterable(results) || !caller) return results;
        if (request) {
          await results.return(undefined);
          const { schema, document, operationName, variableValues } = args;
          const stream = transport?.stream ?? new ResultStream(() => res?.destroy());
          const close = feed.open(
            {
              schema,
              document,
              operationName,
              variableValues,
              caller,
              types: request.types as readonly EventName[] | undefined,
              after: request.after,
            },
            stream,
          );
          stream.onEnd(close);
          results = stream;
        }
        return transport || !res ? results : overHttp(connections, caller, res, results);
      });
    },
  };
}

function overHttp(
  connections: Connections,
  caller: Caller,
  response: ServerResponse,
  results: AsyncGenerator<unknown>,
) {
  const leave = connections.enter(() => response.destroy());
  if (!leave) {
    void results.return(undefined);
    return { errors: [requestError('RATE_LIMITED', 'There are too many connections.')] };
  }
  const { iterator, end } = endable(results);
  const unwatch = connections.watch(caller, (fault) => {
    const error = requestError('UNAUTHENTICATED', `The access token is refused: ${fault}.`);
    end({ errors: [error] });
  });
  response.once('close', () => {
    leave();
    unwatch();
    void iterator.return(undefined);
  });
  return iterator;
}
