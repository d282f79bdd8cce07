// What the compiler refuses: were a generated type `any`, or a refusal not told apart, these comments would be errors.

import type { Mutation } from '../generated/genql/index.ts';
import type { introspection } from '../generated/gql-tada/graphql-env.d.ts';
import type { CreateUserMutation } from '../generated/graphql-codegen/graphql.ts';
import type { createUser as heyApi } from '../generated/hey-api/index.ts';
import type { paths } from '../generated/openapi-typescript/signet.ts';
import type { createUser as orval } from '../generated/orval/signet.ts';

type Body<T> = T extends (options?: infer Options) => unknown
  ? Exclude<Options, undefined> extends { body?: infer Input }
    ? Input
    : never
  : never;

// @ts-expect-error: a user has no such field.
export const byHeyApi: Body<typeof heyApi> = { user_name: 'ada' };
// @ts-expect-error: a user has no such field.
export const byOrval: Parameters<typeof orval>[0] = { user_name: 'ada' };
type UserBody = NonNullable<paths['/users']['post']['requestBody']>['content']['application/json'];
// @ts-expect-error: a user has no such field.
export const byOpenApiTypescript: UserBody = { user_name: 'ada' };

export function told(
  codegen: CreateUserMutation['createUser'],
  genql: Mutation['createUser'],
  tada: introspection['types']['ConflictError']['fields'],
) {
  // @ts-expect-error: only a conflict has a path.
  codegen.path;
  // @ts-expect-error: only a conflict has a path.
  genql.path;
  // @ts-expect-error: a conflict has no such field.
  tada.paths;
}
