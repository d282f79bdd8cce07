import type { GraphQLSchema } from 'graphql';
import type { Caller } from '../../auth/caller.ts';
import type { ManagementScope } from '../../auth/scopes.ts';
import { assertAllowed } from '../builder.ts';

/** The scope, or all scopes, that a field or a type requires. */
export function scopeOf({
  extensions,
}: {
  readonly extensions: object;
}): ManagementScope | readonly ManagementScope[] | undefined {
  const { pothosOptions } = extensions as {
    pothosOptions?: { authScopes?: { scope?: ManagementScope | readonly ManagementScope[] } };
  };
  return pothosOptions?.authScopes?.scope;
}

/**
 * Checks that a caller may call a mutation at all.
 *
 * @throws UNAUTHENTICATED without a token, FORBIDDEN if it lacks a scope.
 */
export function assertMayCall(
  caller: Caller | null,
  schema: GraphQLSchema,
  mutation: string,
): void {
  const field = schema.getMutationType()?.getFields()[mutation];
  if (!field) throw new Error(`${mutation} is not a mutation of the schema.`);
  for (const scope of [scopeOf(field) ?? []].flat()) assertAllowed(caller, scope);
}
