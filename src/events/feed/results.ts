import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema } from 'graphql';
import type { Caller } from '../../auth/caller.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { introspectionOptions } from '../../graphql/introspection.ts';
import { newTraceId } from '../../ids.ts';
import type { Services } from '../../services.ts';
import type { LiveFilter, LoggedEvent } from '../log.ts';
import type { EventPosition } from '../position.ts';

/** A subscription to the log: a document on the field `events`, and its sender. */
export interface EventOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | null | undefined;
  readonly variableValues: Readonly<Record<string, unknown>> | null | undefined;
  readonly caller: Caller;
  readonly filter: LiveFilter;
  /** Absent: starts with new events. */
  readonly after: EventPosition | undefined;
}

/** A serialized result, and the position of its event in the log. */
export interface Placed {
  readonly position: EventPosition;
  readonly result: string;
}

/** Executes an operation on each event and returns the results as JSON. */
export type ResultsOf = (
  operation: EventOperation,
  events: readonly LoggedEvent[],
) => Promise<Placed[]>;

/** Bytes that each reader is sent before its backlog is checked again. */
const maxBatchBytes = 256 * 1024;

/**
 * Creates the function that executes operations on events.
 *
 * @param format Masks errors in an execution's result and serializes it.
 */
export const executor =
  (services: Services, format: (result: ExecutionResult, traceId: string) => string): ResultsOf =>
  async (operation, events) => {
    const { schema, document, operationName, variableValues, caller } = operation;
    const traceId = newTraceId();
    // The events executed together share one context. Their loads are batched, and nothing is cached for later events.
    const contextValue: GraphQLContext = {
      ...services,
      caller,
      actor: caller.actor,
      traceId,
      ip: null,
      userAgent: null,
    };
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

/** Cuts results into batches; a reader's backlog is checked between two batches. */
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
