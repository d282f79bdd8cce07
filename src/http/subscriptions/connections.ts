import type { ServerResponse } from 'node:http';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { type Caller, faultOfCaller } from '../../auth/caller.ts';
import { startTokenWatch } from '../../auth/token-watch.ts';
import { consoleApp } from '../../console/app.ts';
import type { EventName } from '../../events/catalogue/catalogue.ts';
import type { EventFeed } from '../../events/feed/feed.ts';
import type { EventRequest, GraphQLContext } from '../../graphql/context.ts';
import { costFault } from '../../graphql/cost.ts';
import { requestError } from '../../graphql/request-error.ts';
import { addGauge } from '../../metrics/metrics.ts';
import { useFirstPartySession } from '../../oidc/first-party/session.ts';
import { startSessionWatch } from '../../oidc/first-party/session-watch.ts';
import type { Services } from '../../services.ts';
import { leaveTurn } from '../admit.ts';
import { endable } from './endable.ts';
import { ResultStream } from './result-stream.ts';

/** A new long-lived connection. */
interface Newcomer {
  /** The client's address. */
  readonly address: string;
  /** Whether the client has shown a valid token. */
  readonly isKnown: boolean;
  /** Ends it at a stop. */
  end(): void;
  /** Ends it to make room, while the client is unknown. */
  displace?(): void;
}

/** A slot among the limited number of open connections. */
export interface ConnectionSlot {
  /** Marks the client as authenticated: from now on the slot cannot be taken away. */
  settle(): void;
  leave(): void;
}

/** The long-lived connections: WebSockets, and streams of server-sent events. */
export interface Connections {
  /**
   * Adds a connection. At the limit, a connection without a token makes room: the oldest one of the address that has
   * the most of them, so that no address takes the share of others.
   *
   * @returns Its slot; undefined if there is no room.
   */
  enter(newcomer: Newcomer): ConnectionSlot | undefined;
  /** Why a caller is no longer accepted; undefined if they still are. */
  faultOf(caller: Caller): Promise<string | undefined>;
  /** Calls back when a caller's token or session is no longer valid. */
  watch(caller: Caller, onFault: (fault: string) => void): () => void;
  /** Ends all connections and accepts no more. */
  stop(): Promise<void>;
}

/** Starts to count connections. */
export function createConnections(services: Services): Connections {
  const { config, metrics } = services;
  const open = new Set<Newcomer>();
  // Those of each address that have shown no token, the oldest first.
  const unknown = new Map<string, Set<Newcomer>>();
  const tokens = startTokenWatch(services);
  const sessions = startSessionWatch(services, consoleApp);
  let isStopped = false;
  addGauge(metrics, 'signet_connections', (gauge) => gauge.set(open.size));

  function know(newcomer: Newcomer): void {
    const others = unknown.get(newcomer.address);
    others?.delete(newcomer);
    if (others?.size === 0) unknown.delete(newcomer.address);
  }

  function leave(newcomer: Newcomer): void {
    open.delete(newcomer);
    know(newcomer);
  }

  function makeRoom(): boolean {
    let most: Set<Newcomer> | undefined;
    for (const of of unknown.values()) if (of.size > (most?.size ?? 0)) most = of;
    const [oldest] = most ?? [];
    if (!oldest) return false;
    leave(oldest);
    oldest.displace?.();
    return true;
  }

  return {
    enter(given) {
      if (isStopped || (open.size >= config.maxConnections && !makeRoom())) return undefined;
      // A new object each time, because the same one may be passed twice.
      const newcomer = { ...given };
      open.add(newcomer);
      if (!newcomer.isKnown) {
        const others = unknown.get(newcomer.address);
        if (others) others.add(newcomer);
        else unknown.set(newcomer.address, new Set([newcomer]));
      }
      return { settle: () => know(newcomer), leave: () => leave(newcomer) };
    },
    async faultOf(caller) {
      const { consoleSessionId: id } = caller;
      if (id === undefined) return faultOfCaller(services, caller);
      return (await useFirstPartySession(services, consoleApp, { id }, { isIdle: true }))
        ? undefined
        : 'signed out';
    },
    watch: (caller, onFault) =>
      caller.consoleSessionId === undefined
        ? tokens.watch(caller, onFault)
        : sessions.watch(caller.consoleSessionId, onFault),
    async stop() {
      isStopped = true;
      for (const { end } of [...open]) end();
      await Promise.all([tokens.stop(), sessions.stop()]);
    },
  };
}

/** The data that a transport other than HTTP passes with an operation. */
export interface Transport {
  /** The destination of results from the event log. */
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
          readonly request?: Request;
        };
        let request: EventRequest | undefined;
        const contextValue = {
          ...context,
          lastEventId: context.request?.headers.get('last-event-id') || undefined,
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
              filter: { ...request, types: request.types as readonly EventName[] | undefined },
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

/** The error for a caller who is no longer accepted. */
export const refusalOf = ({ consoleSessionId }: Caller, fault: string): string =>
  consoleSessionId === undefined
    ? `The access token is refused: ${fault}.`
    : `The session is over: ${fault}.`;

function overHttp(
  connections: Connections,
  caller: Caller,
  response: ServerResponse,
  results: AsyncGenerator<unknown>,
) {
  const slot = connections.enter({
    address: '',
    isKnown: true,
    end: () => response.destroy(),
  });
  if (!slot) {
    void results.return(undefined);
    return { errors: [requestError('RATE_LIMITED', 'There are too many connections.')] };
  }
  leaveTurn(response);
  const { iterator, end } = endable(results);
  const unwatch = connections.watch(caller, (fault) => {
    const error = requestError('UNAUTHENTICATED', refusalOf(caller, fault));
    end({ errors: [error] });
  });
  response.once('close', () => {
    slot.leave();
    unwatch();
    void iterator.return(undefined);
  });
  return iterator;
}
