import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  typeBrandKey,
} from '@pothos/core';
import { GraphQLError, type GraphQLFieldResolver } from 'graphql';
import { isRehearsal } from '../../db/around.ts';
import { sqlState } from '../../db/sql.ts';
import { Refusal } from '../../errors.ts';
import { failures, isRequestErrorCode } from '../../failures.ts';
import { counterOf } from '../../metrics/metrics.ts';
import { inSpan, markFailed } from '../../tracing/tracing.ts';
import type { GraphQLContext } from '../context.ts';
import { isForClient, refusedStates } from '../public-error.ts';

type Resolve<Context> = GraphQLFieldResolver<unknown, Context, object>;
type Outcome = 'done' | 'refused' | 'failed';

/** How an operation came out that threw this. */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof Refusal || refusedStates.has(sqlState(error) ?? '')) return 'refused';
  if (!(error instanceof GraphQLError) || !isForClient(error)) return 'failed';
  const { code } = error.extensions;
  return isRequestErrorCode(code) && failures[code].status >= 500 ? 'failed' : 'refused';
}

/** Whether a result is a refusal, a member of its union: the library marks it with its class, and hides that it is an error. */
function isRefusal(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false;
  const { [typeBrandKey]: brand } = result as { readonly [typeBrandKey]?: unknown };
  return typeof brand === 'function' && brand.prototype instanceof Refusal;
}

/** Runs an operation in a span of its name, and counts how it came out. */
function told<Context extends object>(
  operation: string,
  type: string,
  resolve: Resolve<Context>,
): Resolve<Context> {
  const attributes = { 'graphql.operation.type': type, 'signet.operation': operation };
  return (root, args, context, info) =>
    inSpan(`${type} ${operation}`, { attributes }, async (span) => {
      const count = (outcome: Outcome) => {
        span?.setAttribute('signet.outcome', outcome);
        if (outcome === 'failed') markFailed(span, 'failed');
        if (isRehearsal()) return;
        // The builder's context, which the library knows as an object.
        const { metrics } = context as Pick<GraphQLContext, 'metrics'>;
        counterOf(metrics, 'signet_operations_total').inc({ operation, outcome });
      };
      try {
        const result = await resolve(root, args, context, info);
        count(isRefusal(result) ? 'refused' : 'done');
        return result;
      } catch (error) {
        count(outcomeOf(error));
        throw error;
      }
    });
}

/**
 * Counts every root field, over whichever transport and in whichever graph it is asked for, and runs it in a span. It
 * comes before the plugins that refuse.
 */
class OperationsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: Resolve<Types['Context']>,
    { parentType, name }: PothosOutputFieldConfig<Types>,
  ): Resolve<Types['Context']> {
    const isRoot = parentType === 'Query' || parentType === 'Mutation';
    return isRoot ? told(name, parentType.toLowerCase(), resolve) : resolve;
  }

  override wrapSubscribe(
    subscribe: Resolve<Types['Context']> | undefined,
    { name }: PothosOutputFieldConfig<Types>,
  ): Resolve<Types['Context']> | undefined {
    return subscribe && told(name, 'subscription', subscribe);
  }
}

/** The name by which the builder knows the plugin. */
export const operationsPlugin = 'operations' as const;

declare global {
  export namespace PothosSchemaTypes {
    // The parameter's name is that of the library's.
    export interface Plugins<Types extends SchemaTypes> {
      [operationsPlugin]: OperationsPlugin<Types>;
    }
  }
}

SchemaBuilder.registerPlugin(operationsPlugin, OperationsPlugin);
