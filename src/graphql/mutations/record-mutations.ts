import type { InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import type { ManagementScope } from '../../auth/scopes.ts';
import { NotFoundError } from '../../errors.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import type { SchemaTypes } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { mutationPayloadName } from '../names.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
  type RefusalClass,
} from './mutation.ts';
import type { MutationName } from './raised.ts';

interface Common {
  readonly description: string;
  /** The scope, or all scopes, that the caller's token must allow; by default that of the record's mutations. */
  readonly scope?: ManagementScope | readonly ManagementScope[];
}

interface ChangeOptions<Row, Fields extends InputFieldMap> extends Common {
  readonly input: (t: InputFields) => Fields;
  /** The refusals that it can meet: the other members of the result union. */
  readonly errors: readonly RefusalClass[];
  /** Whether its work is outside the database. */
  readonly isOutside?: boolean;
  readonly operation: (
    context: GraphQLContext,
    input: InputShapeFromFields<Fields>,
    info: GraphQLResolveInfo,
  ) => Promise<Row>;
}

interface DeletionOptions<Row> extends Common {
  /** The refusals that it can meet: `NotFoundError` by default. */
  readonly errors?: readonly RefusalClass[];
  readonly model: (prisma: PrismaClient) => {
    // biome-ignore lint/suspicious/noExplicitAny: each model has arguments of its own, which an id and a selection fit.
    findUnique(query: any): PromiseLike<Row | null>;
  };
  readonly operation: (context: GraphQLContext, input: { readonly id: string }) => Promise<Row>;
}

/**
 * Makes the functions that add the mutations of a record type. The payload of each holds the record, with what the
 * request selects of it.
 *
 * @param field The payload's field that holds the record.
 * @param options.scope The scope that the caller's token must allow.
 * @param options.noun What descriptions call a record; by default the field's name.
 * @param options.description The description of the payload's field; by default from the noun.
 */
export function recordMutations<Field extends string, Row extends object>(
  field: Field,
  type: ObjectRef<SchemaTypes, Row>,
  options: {
    readonly scope: ManagementScope;
    readonly noun?: string;
    readonly description?: string;
  },
) {
  const { scope, noun = field, description = `The ${noun}.` } = options;

  /** The record's field in a payload, for a mutation that returns more. */
  const payload = <Payload extends Record<Field, Row>>(t: PayloadFields<Payload>) => ({
    [field]: t.field({
      type,
      description,
      // The compiler cannot see through the type parameters that this is a row of the type.
      resolve: (result) => result[field] as never,
    }),
  });
  /** The record's id as a field of an input. */
  const id = (t: InputFields) => t.id({ required: true, description: `The ${noun}'s id.` });

  // The compiler does not compute the type of a computed key.
  const inPayload = (row: Row) => ({ [field]: row }) as Record<Field, Row>;

  /** Adds a mutation that changes a record, or creates one, and returns it. */
  function add<Fields extends InputFieldMap>(
    name: MutationName,
    { operation, ...rest }: ChangeOptions<NoInfer<Row>, Fields>,
  ): void {
    addMutation<Fields, Record<Field, Row>>(name, {
      scope,
      payload: (t) => payload(t),
      ...rest,
      resolve: async (input, context, info) => inPayload(await operation(context, input, info)),
    });
  }

  /** Adds a mutation that deletes a record by its id and returns its last state. */
  function addDeletion(
    name: MutationName,
    { model, operation, ...rest }: DeletionOptions<NoInfer<Row>>,
  ): void {
    addMutation(name, {
      scope,
      payload: (t: PayloadFields<Record<Field, Row>>) => payload(t),
      errors: [NotFoundError],
      ...rest,
      input: (t) => ({ id: id(t) }),
      resolve: async (input, context, info) => {
        // The relations that the request selects are read before the deletion: afterwards they are gone.
        const path = [{ type: mutationPayloadName(name), name: field }];
        const query = { ...queryFromInfo({ context, info, path }), where: { id: input.id } };
        const before = await model(context.database.prisma).findUnique(query);
        return inPayload({ ...before, ...(await operation(context, input)) });
      },
    });
  }

  return { add, addDeletion, payload, id };
}
