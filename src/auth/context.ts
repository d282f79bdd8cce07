import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { ResolveHost } from '../dns.ts';
import type { Cipher } from '../keys/cipher.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';

/** What the process is made of: opened once, handed to all that need it. */
export interface Services {
  readonly config: Config;
  /** The public URL, without a slash at its end. */
  readonly baseUrl: string;
  /** The issuer of every token (OpenID Connect Core §2): `${baseUrl}/oidc`. */
  readonly issuer: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly database: Database;
  readonly cipher: Cipher;
  readonly keys: SigningKeys;
  /** Finds the addresses of the hosts that webhooks name. */
  readonly resolveHost: ResolveHost;
  /** Where a feature registers what it counts; `GET /metrics` shows it. */
  readonly metrics: Registry;
}

/** Who did something, as events tell it. */
export interface Actor {
  readonly type: 'USER' | 'APPLICATION' | 'SYSTEM';
  /** The user's or the application's id; null for Signet itself. */
  readonly id: string | null;
  /** The application that a user acted through. */
  readonly clientId?: string;
}

/** Signet itself: what it does at start, or by the clock. */
export const systemActor: Actor = { type: 'SYSTEM', id: null };

/** What an operation works with: the services, who calls, and the trace that leads from the call to its effects. */
export interface Context extends Services {
  readonly actor: Actor;
  readonly traceId: string;
}
