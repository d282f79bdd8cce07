import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import type { ManagementScope } from '../../auth/scopes.ts';
import type { Refusal } from '../../errors.ts';
import { builder, type Graph, type SchemaTypes } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { mutationInputName, mutationPayloadName } from '../names.ts';
import { counted } from './mutation-count.ts';

/** Builds the fields of a mutation's input. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>;
/** Builds the fields of a mutation's payload. */
export type PayloadFields<Payload> = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Payload>;
/** The class of a refusal. */
// biome-ignore lint/suspicious/noExplicitAny: a constructor's parameters are contravariant.
export type RefusalClass = new (...parameters: any[]) => Refusal;

interface MutationOptions<Fields extends InputFieldMap, Payload extends object> {
  readonly description: string;
  /** The scope that the caller's token must allow, or all that it must; null in a graph that knows its callers otherwise. */
  readonly scope: ManagementScope | readonly ManagementScope[] | null;
  /** The schema, or all schemas, that it is in; the management's by default. */
  readonly graph?: Graph | readonly Graph[];
  readonly input: (t: InputFields) => Fields;
  readonly payload: (t: PayloadFields<Payload>) => FieldMap;
  /** The refusals that it can meet: the other members of the result union. */
  readonly errors: readonly RefusalClass[];
  readonly resolve: (
    input: InputShapeFromFields<Fields>,
    context: GraphQLContext,
    info: GraphQLResolveInfo,
  ) => Payload | Promise<Payload>;
}

/**
 * Adds a mutation in the schema's one form: an `input` named `<Mutation>Input`, and a union `<Mutation>Result` of
 * `<Mutation>Payload` and the errors it can meet.
 */
export function addMutation<Fields extends InputFieldMap, Payload extends object>(
  name: string,
  options: MutationOptions<Fields, Payload>,
): void {
  const graph = options.graph ?? 'management';
  const subGraphs = [graph].flat();
  const isManagement = subGraphs.includes('management');
  const input = builder.inputType(mutationInputName(name), {
    subGraphs,
    description: `The input of \`${name}\`.`,
    fields: options.input,
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
      ...(options.scope === null ? {} : { authScopes: { scope: options.scope } }),
      args: { input: t.arg({ type: input, required: true, description: 'The input.' }) },
      errors: {
        types: [...options.errors],
        union: { subGraphs, description: `The result of \`${name}\`.` },
      },
      // The compiler cannot see through a type parameter that `args` has the one argument declared above,
      // and that the result is that of the union.
      resolve: (_root, args, context, info) => {
        const { input } = args as { input: InputShapeFromFields<Fields> };
        const run = () => options.resolve(input, context, info);
        return (isManagement ? counted(context.metrics, run) : run()) as never;
      },
    }),
  );
}
