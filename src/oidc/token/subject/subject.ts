import type { ActClaim } from '../../../auth/access-token.ts';
import type { Services } from '../../../services.ts';
import type { readSubjectState, SubjectState } from '../grant-state.ts';
import type { Bounds } from './bounds.ts';

/** On whose behalf an exchange is, proved by a subject token. */
export interface Subject {
  readonly userId: string;
  /** The token's instant of issue: a sign-out after it ends the token, and all that comes from it. */
  readonly issuedAt: Date;
  /** When the token expires, in seconds since the epoch. */
  readonly exp: number;
  /** Who has acted so far. */
  readonly act: ActClaim | undefined;
  /** What ends the issued token when it is revoked. */
  readonly lineage: readonly string[];
  readonly bounds: Bounds;
}

/** A subject token as it was sent in. Nothing is proved until it is verified, once the client has authenticated. */
export interface PresentedToken {
  /** The claims by which {@link readSubjectState} finds the rest. */
  readonly claims: Parameters<typeof readSubjectState>[2];
  /** @throws {TokenFault} with the class of fault. */
  readonly verify: (state: SubjectState, clientId: string) => Subject | Promise<Subject>;
  /**
   * Uses the token, once nothing else can refuse the exchange; absent where a use leaves no trace.
   *
   * @throws {TokenFault} when it was used up meanwhile.
   */
  readonly use?: (clientId: string) => Promise<void>;
}

/** A type of subject token (RFC 8693 §2.1). */
export interface SubjectTokenType {
  /** Whether the application may exchange tokens of this type. */
  readonly isAllowed: (state: SubjectState) => boolean;
  /** Reads a token that was sent in. What this takes does not depend on whether there is such a token. */
  readonly present: (
    services: Services,
    token: string,
    at: Date,
  ) => PresentedToken | Promise<PresentedToken>;
}
