import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Turns } from './admission/turns.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import type { Cipher } from './keys/cipher.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { Language } from './languages.ts';
import type { ResolveHost } from './outbound/dns.ts';

/** How much work one Argon2id digest is. No variable sets it, so that no operator makes it too small. */
export interface PasswordCost {
  /** In KiB. */
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** The services that every part works with; opened once. */
export interface Services {
  readonly config: Config;
  /** The public URL, without a slash at its end. */
  readonly baseUrl: string;
  /** The issuer of every token (OpenID Connect Core §2): `${baseUrl}/oidc`. */
  readonly issuer: string;
  /** The database's clock: what one node writes and another compares is of it. */
  readonly clock: Clock;
  readonly log: Logger;
  readonly database: Database;
  readonly cipher: Cipher;
  readonly keys: SigningKeys;
  /** The cost of a new password digest. */
  readonly passwordCost: PasswordCost;
  /** Finds the addresses of the hosts that webhooks name. */
  readonly resolveHost: ResolveHost;
  /** Gives turns to requests, and refuses those that would wait for too long. */
  readonly turns: Turns;
  /** The registry of metrics. Features register theirs, and `GET /metrics` shows them. */
  readonly metrics: Registry;
}

/** The actor of an operation, as events report it. */
export interface Actor {
  readonly type: 'USER' | 'APPLICATION' | 'SYSTEM';
  /** The user's or the application's id; null for Signet itself. */
  readonly id: string | null;
  /** The application that a user acted through. */
  readonly clientId?: string;
}

/** Signet itself, when it acts at startup or on a schedule. */
export const systemActor: Actor = { type: 'SYSTEM', id: null };

/** Where a call comes from. The events that it leads to say so. */
export interface Call {
  /** Links the call to its effects: the trace id of its `traceparent`, or one of its own. */
  readonly traceId: string;
  /** The client's address; null if no request led to it. */
  readonly ip: string | null;
  /** The `User-Agent` header, cut off at 512 characters; null without one. */
  readonly userAgent: string | null;
}

/** A call by a request, so it has an address. */
export interface RequestCall extends Call {
  readonly ip: string;
}

/** The context of an operation: the services, the caller, and where the call comes from. */
export interface Context extends Services, Call {
  readonly actor: Actor;
  /** The scopes of the caller's token; absent when Signet itself acts. */
  readonly caller?: { readonly scopes: ReadonlySet<string> } | null;
}

/** The browser or the program at the other end of a sign-in. */
export interface Visitor {
  /** The `Cookie` header; undefined for a program that sends none. */
  readonly cookies: string | undefined;
  /** The language of pages and messages; undefined when the person chose none. */
  readonly language: Language | undefined;
}

/** The context of a step of a sign-in. The user is not known before the step runs. */
export interface VisitContext extends Services, RequestCall {
  readonly visitor: Visitor;
}

/** A signed-in person who looks after their own account. */
export interface Viewer {
  readonly userId: string;
  /** The application that they do it through. */
  readonly clientId: string;
  /**
   * The session of the token: the grant that it was issued under, or the token itself if it was exchanged. Verifications
   * are remembered for it.
   */
  readonly session: string;
  readonly scopes: ReadonlySet<string>;
}

/** The context of an operation on a person's own account. */
export interface ViewerContext extends Context, RequestCall {
  readonly ip: string;
  readonly viewer: Viewer;
  readonly visitor: Visitor;
}

/**
 * Proof that a request belongs to an interaction: a browser's cookie, or a token. The steps trust it.
 */
export interface InteractionAccess {
  readonly id: string;
  /** The application that the person signs in to. */
  readonly applicationId: string;
  /** The id of the provider's interaction in the browser; null without a browser. */
  readonly uid: string | null;
}
