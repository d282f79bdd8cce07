import type { Caller } from '../auth/caller.ts';
import type { Context } from '../auth/context.ts';

/** What resolvers see: an operation's context, and who calls; null where no token came with the request. */
export interface GraphQLContext extends Context {
  readonly caller: Caller | null;
  /** Takes note of what a subscription to the event log asks for; whoever runs the subscription serves it. */
  readonly requestEvents?: (request: EventRequest) => void;
}

/** What a subscription to the event log asks for. */
export interface EventRequest {
  /** Names of types; absent: all. */
  readonly types: readonly string[] | undefined;
  /** A place in the log; absent: from now on. */
  readonly after: { readonly xid: string; readonly position: bigint } | undefined;
}
