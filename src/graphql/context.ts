import type { Caller } from '../auth/caller.ts';
import type { Context } from '../auth/context.ts';

/** What resolvers see: an operation's context, and who calls; null where no token came with the request. */
export interface GraphQLContext extends Context {
  readonly caller: Caller | null;
}
