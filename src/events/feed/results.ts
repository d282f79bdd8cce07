import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema } from 'graphql';
import type { Caller } from '../../auth/caller.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { introspectionOptions } from '../../graphql/introspection.ts';
import { newTraceId } from '../../ids.ts';
import type { Services } from '../../services.ts';
import type { EventPosition, LiveFilter, LoggedEvent } from '../log.ts';

/** A subscription to the log: a document on the field `events`, and who sent it. */
export interface EventOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | null | undefined;
  readonly variableValues: Readonly<Record<string, unknown>> | null | undefined;
  readonly caller: Caller;
  readonly filter: LiveFilter;
  /** Absent: from now on. */
  readonly after: EventPosition | undefined;
}

/** A result, and the place of its event. */
export interface Placed {
  readonly position: EventPosition;
  readonly result: string;
}

/** Gives what an operation comes to over each of these events, as JSON. */
export type ResultsOf = (
  operation: EventOperation,
  events: readonly LoggedEvent[],
) => Promise<Placed[]>;

/** Bytes that are sent to each reader without a look at its socket in between. */
const maxBatchBytes = 256 * 1024;

/**
 * Makes what executes operations over events.
 *
 * @param format Masks and serializes what an execution came to.
 */
export const executor =
  (services: Services, format: (result: ExecutionResult, traceId: string) => string): ResultsOf =>
  async (operation, events) => {
    const { schema, document, operationName, variableValues, caller } = operation;
    const traceId = newTraceId();
    // One for the events that are executed together: what they load is loaded together, and never stale.
    const contextValue: GraphQLContext = { ...services, caller, actor: caller.actor, traceId };
    return Promise.all(
      events.map(async (rootValue) => {
        const result = await execute({
          schema,
          document,
          operationName,
          variableValues,
          rootValue,
          contextValue,
          ...introspectionOptions(services.config),
        });
        return { position: rootValue.position, result: format(result, traceId) };
      }),
    );
  };

/** Cuts results into batches that are sent without a look at the reader's socket in between. */
export function* batches(placed: readonly Placed[]): Generator<readonly Placed[]> {
  let batch: Placed[] = [];
  let bytes = 0;
  for (const entry of placed) {
    batch.push(entry);
    bytes += entry.result.length;
    if (bytes < maxBatchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
