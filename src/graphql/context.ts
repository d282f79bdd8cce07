import type { Caller } from '../auth/caller.ts';
import type { InteractionExpiredError } from '../errors.ts';
import type { Context, InteractionAccess, Viewer, Visitor } from '../services.ts';

/** The key with which a client makes sure that a mutation happens once. */
export interface Once {
  /** The value of `Idempotency-Key`. */
  readonly key: string;
  /** Called if the answer is that of an earlier request. */
  readonly replayed: () => void;
}

/** How far a client has seen the database change. */
export interface Place {
  /** The value of `Signet-Position`; undefined without one. */
  readonly asked: string | undefined;
  /** Tells the client how far the database is now, after its mutation. */
  readonly tell: () => Promise<void>;
}

/** The context of resolvers: an operation's context and the caller, who is null without a token. */
export interface GraphQLContext extends Context {
  readonly caller: Caller | null;
  /** The request's `Idempotency-Key`; absent without one. */
  readonly once?: Once | undefined;
  /** The client's place in the history of the database; absent without replicas, over WebSockets and MCP. */
  readonly place?: Place | undefined;
  /** Registers a subscription's request for events; whoever runs the subscription serves it. */
  readonly requestEvents?: (request: EventRequest) => void;
  /** The cursor of the last event that a reconnecting client of server-sent events saw (HTML §9.2.4). */
  readonly lastEventId?: string | undefined;
  /** The visitor of the Experience API; absent in other APIs. */
  readonly visit?: Visit;
  /** The person whom the Account API serves; absent in other APIs, and null without a token. */
  readonly viewer?: Viewer | null;
  /** The browser or the program that calls the Account API. */
  readonly visitor?: Visitor;
}

/** The visitor of the Experience API, and the interaction that the request proves. */
export interface Visit {
  readonly visitor: Visitor;
  /** The visitor's interaction, running or over; null without proof of one. */
  readonly access: InteractionAccess | InteractionExpiredError | null;
  /**
   * Does a step of the interaction; the same step, sent again, gets the first answer.
   *
   * @param step.standsSeconds How long the answer stands: with 0 it answers those alone who wait for it, with null nobody.
   */
  readonly once: <Answer extends object>(
    step: {
      readonly operation: string;
      readonly input: object;
      readonly standsSeconds: number | null;
    },
    work: () => Promise<Answer>,
  ) => Promise<Answer>;
  /** Adds a `Set-Cookie` header to the answer. */
  readonly keepCookie: (cookie: string) => void;
}

/** The events that a subscription asks for. */
export interface EventRequest {
  /** Names of event types; absent: all. */
  readonly types: readonly string[] | undefined;
  /** The id of the subject; absent: any. */
  readonly subjectId: string | undefined;
  /** The id of the actor; absent: any. */
  readonly actorId: string | undefined;
  /** A position in the log; absent: from now on. */
  readonly after:
    | { readonly xid: string; readonly position: bigint; readonly eventId: string | null }
    | undefined;
}
