import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import type { GraphQLField, GraphQLResolveInfo } from 'graphql';
import { guarded } from '../../auth/granting/guard.ts';
import type { ManagementScope } from '../../auth/scopes.ts';
import { isRehearsal } from '../../db/around.ts';
import { expectingVersion } from '../../db/versions.ts';
import {
  InvalidInputError,
  NotAllowedError,
  type Refusal,
  VersionConflictError,
} from '../../errors.ts';
import { builder, type Graph, type SchemaTypes } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { mutationInputName, mutationPayloadName } from '../names.ts';
import { counted } from './mutation-count.ts';
import { once } from './once.ts';
import type { MutationName } from './raised.ts';
import { expectedVersionDescription, versionedIdOf } from './versions.ts';

/** Builds the fields of a mutation's input. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>;
/** Builds the fields of a mutation's payload. */
export type PayloadFields<Payload> = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Payload>;
/** The input of a mutation that takes nothing. */
export const noFields = (t: InputFields) => ({
  clientMutationId: t.string({ description: 'Not used: an input needs at least one field.' }),
});

/** The class of a refusal. */
// biome-ignore lint/suspicious/noExplicitAny: a constructor's parameters are contravariant.
export type RefusalClass = new (...parameters: any[]) => Refusal;

interface MutationOptions<Fields extends InputFieldMap, Payload extends object> {
  readonly description: string;
  /**
   * The scope, or all scopes, that the caller's token must allow; null in a graph that identifies callers otherwise.
   */
  readonly scope: ManagementScope | readonly ManagementScope[] | null;
  /** The schema, or all schemas, that it is in; the management's by default. */
  readonly graph?: Graph | readonly Graph[];
  readonly input: (t: InputFields) => Fields;
  readonly payload: (t: PayloadFields<Payload>) => FieldMap;
  /** The refusals that it can meet: the other members of the result union. */
  readonly errors: readonly RefusalClass[];
  /**
   * Whether its work is outside the database. It then cannot be rolled back, nor be in one transaction with its kept
   * result.
   */
  readonly isOutside?: boolean;
  /**
   * How long the same step of an interaction is answered by it, in seconds; by default for as long as there can be one.
   * With 0 it answers those alone who wait for it, with null nobody: each time it is another.
   */
  readonly standsSeconds?: number | null;
  readonly resolve: (
    input: InputShapeFromFields<Fields>,
    context: GraphQLContext,
    info: GraphQLResolveInfo,
  ) => Payload | Promise<Payload>;
}

interface Expecting {
  readonly expectedVersion?: number | null;
}

// No step of an interaction is done twice.
const stepStandsSeconds = 3600;

const outsideMark = 'worksOutside';

/** Whether a mutation's work is outside the database, so that a dry run refuses it. */
export const worksOutside = ({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>) =>
  extensions[outsideMark] === true;

const outsideRehearsal = 'Its work lies outside of the database: a dry run could not undo it.';

/**
 * Adds a mutation in the schema's uniform shape: an `input` named `<Mutation>Input`, and a union `<Mutation>Result` of
 * `<Mutation>Payload` and the errors it can meet, at least one.
 */
export function addMutation<Fields extends InputFieldMap, Payload extends object>(
  name: MutationName,
  options: MutationOptions<Fields, Payload>,
): void {
  const graph = options.graph ?? 'management';
  const subGraphs = [graph].flat();
  const isManagement = subGraphs.includes('management');
  const { isOutside = false, standsSeconds = stepStandsSeconds } = options;
  const versionedId = isManagement ? versionedIdOf(name) : undefined;
  const errors = new Set<RefusalClass>([
    ...options.errors,
    ...(isOutside ? [NotAllowedError] : []),
    ...(versionedId ? [VersionConflictError] : []),
  ]);
  // Clients write `... on Error` once for every mutation. In a union without one, it is no valid document.
  if (errors.size === 0) errors.add(InvalidInputError);
  const input = builder.inputType(mutationInputName(name), {
    subGraphs,
    description: `The input of \`${name}\`.`,
    fields: (t) => ({
      ...options.input(t),
      ...(versionedId
        ? { expectedVersion: t.int({ description: expectedVersionDescription }) }
        : {}),
    }),
  });
  const payload = builder.objectRef<Payload>(mutationPayloadName(name)).implement({
    subGraphs,
    description: `The payload of \`${name}\`.`,
    fields: options.payload,
  });
  builder.mutationField(name, (t) =>
    t.field({
      type: payload,
      subGraphs,
      description: options.description,
      extensions: { [outsideMark]: isOutside },
      ...(options.scope === null ? {} : { authScopes: { scope: options.scope } }),
      args: { input: t.arg({ type: input, required: true, description: 'The input.' }) },
      errors: {
        types: [...errors],
        union: { subGraphs, description: `The result of \`${name}\`.` },
      },
      // The compiler cannot see through a type parameter that `args` has the one argument declared above,
      // and that the result is that of the union.
      resolve: (_root, args, context, info) => {
        const { input: given } = args as unknown as {
          input: InputShapeFromFields<Fields> & Expecting;
        };
        const { expectedVersion, ...input } = given;
        const run = async () => {
          if (isOutside && isRehearsal()) throw new NotAllowedError(outsideRehearsal);
          // The compiler does not see that this is the input without the field above.
          return options.resolve(input as InputShapeFromFields<Fields>, context, info);
        };
        if (!isManagement) {
          const { visit } = context;
          return (
            visit ? visit.once({ operation: name, input, standsSeconds }, run) : run()
          ) as never;
        }
        const guard = () => guarded(context, { operation: name, input }, run);
        const compare = () =>
          versionedId && expectedVersion != null
            ? expectingVersion(versionedId(input), expectedVersion, guard)
            : guard();
        const asked = { operation: name, input: { ...input, expectedVersion } };
        return counted(context.metrics, () =>
          once(context, asked, compare, { isOutside }),
        ) as never;
      },
    }),
  );
}
