import {
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  getOperationAST,
} from 'graphql';
import { CloseCode, type makeServer, type SubscribePayload } from 'graphql-ws';
import { isUnreachable } from '../../db/unreachable.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { maskFault, publicErrors, publicResult } from '../../graphql/public-error.ts';
import { requestError } from '../../graphql/request-error.ts';
import { newTraceId } from '../../ids.ts';
import type { Services } from '../../services.ts';
import { inTrace, SpanKind } from '../../tracing/tracing.ts';
import type { GraphQLServer } from '../graphql.ts';
import { type Connections, refusalOf } from './connections.ts';
import { FrameStream } from './frame-stream.ts';
import { closeCodes, type Extra } from './socket.ts';

/** The most operations that one connection may have open. */
const maxOperations = 100;
/** The most bytes of results that a client may leave unread. */
const maxUnreadBytes = 4 * 1024 * 1024;

// graphql-ws passes the same object that onSubscribe returned.
type Operation = ExecutionArgs & {
  readonly contextValue: GraphQLContext;
  readonly run: ReturnType<GraphQLServer['yoga']['getEnveloped']>['execute'];
};

/** The options of graphql-ws: how a connection authenticates, and how its operations run. */
export function protocolOptions(
  services: Services,
  graphql: GraphQLServer,
  connections: Connections,
): Parameters<typeof makeServer<Record<string, unknown>, Extra>>[0] {
  const { log } = services;
  const { within } = graphql;

  const run = (args: ExecutionArgs) => {
    const { run: execute, ...operation } = args as Operation;
    const { traceId } = operation.contextValue;
    return within(traceId, async () => {
      try {
        return (await inTrace(traceId, 'graphql-transport-ws', SpanKind.SERVER, {}, () =>
          services.turns.run('request', () => execute(operation)),
        )) as ExecutionResult | AsyncGenerator<ExecutionResult>;
      } catch (error) {
        return { errors: [maskFault(error, traceId, log)] };
      }
    });
  };

  return {
    async onConnect({ connectionParams = {}, extra }) {
      // Many come at once after a restart, and refused they would only come again: they wait for as long as it takes.
      return services.turns.run('connection', () =>
        admit(services, connections, extra, connectionParams),
      );
    },
    async onSubscribe({ extra, subscriptions }, id, payload) {
      const traceId = extra.call.traceId ?? newTraceId();
      // Counted now: others come while this one waits for its turn.
      const openCount = Object.keys(subscriptions).length;
      // Errors are returned: a thrown one would close the socket and all its operations.
      return within(traceId, async () => {
        try {
          return await services.turns.run('request', async () => {
            const refusal = await findRefusal(connections, extra, openCount);
            return refusal ? [refusal] : prepare(graphql, extra, { ...payload, id, traceId });
          });
        } catch (error) {
          return [maskFault(error, traceId, log)];
        }
      });
    },
    execute: run,
    subscribe: run,
    onNext: (_context, _id, _payload, { contextValue }, result) =>
      publicResult(result, (contextValue as GraphQLContext).traceId, log),
    onError: (_context, id, _payload, errors) =>
      publicErrors(
        // graphql-ws wraps what an iterator threw.
        errors.map((error) => error.cause ?? error),
        id,
        log,
      ),
  };
}

/**
 * Authenticates the client of a connection, and closes the connection when it is no longer admitted.
 *
 * @returns Whether the client is admitted.
 */
async function admit(
  { log }: Services,
  connections: Connections,
  extra: Extra,
  parameters: Record<string, unknown>,
): Promise<boolean> {
  const { socket } = extra;
  try {
    const caller = await extra.identify(parameters);
    if (!caller) return false;
    extra.caller = caller;
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    log.warn({ err: error }, 'the database cannot be reached');
    socket.close(closeCodes.tryAgainLater, 'The database cannot be reached');
    return false;
  }
  extra.settle();
  const unwatch = connections.watch(extra.caller, (fault) =>
    socket.close(CloseCode.Forbidden, `Forbidden: ${fault}`),
  );
  socket.once('close', unwatch);
  return true;
}

/** Why a connection may open no further operation now; undefined if it may. */
async function findRefusal(
  connections: Connections,
  { socket, caller }: Extra,
  open: number,
): Promise<GraphQLError | undefined> {
  if (open > maxOperations) {
    return requestError('RATE_LIMITED', `A connection may have ${maxOperations} operations open.`);
  }
  if (socket.bufferedAmount > maxUnreadBytes) {
    socket.close(closeCodes.tryAgainLater, 'Results are not read');
    return requestError('RATE_LIMITED', 'Results are not read.');
  }
  // The watch closes the socket within seconds; until then the caller gets nothing.
  const fault = caller && (await connections.faultOf(caller));
  if (!fault) return undefined;
  socket.close(CloseCode.Forbidden, `Forbidden: ${fault}`);
  return requestError('UNAUTHENTICATED', refusalOf(caller, fault));
}

/** Parses and validates an operation. */
async function prepare(
  { yoga }: GraphQLServer,
  extra: Extra,
  asked: SubscribePayload & { readonly id: string; readonly traceId: string },
): Promise<Operation | GraphQLError[]> {
  const { parse, validate, contextFactory, schema, execute, subscribe } = yoga.getEnveloped({
    sender: { caller: extra.caller ?? null },
    call: { ...extra.call, traceId: asked.traceId },
    transport: { stream: new FrameStream(extra, asked.id) },
  });
  const document = parse(asked.query);
  const errors = validate(schema, document) as GraphQLError[];
  if (errors.length > 0) return errors;
  const isSubscription =
    getOperationAST(document, asked.operationName)?.operation === 'subscription';
  return {
    schema,
    document,
    operationName: asked.operationName,
    variableValues: asked.variables,
    contextValue: await contextFactory(),
    run: isSubscription ? subscribe : execute,
  } as Operation;
}
