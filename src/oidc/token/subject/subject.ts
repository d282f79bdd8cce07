import {
  type ActClaim,
  type MayActClaim,
  TokenFault,
  type Unproved,
} from '../../../auth/access-token.ts';
import { faultOfUser, isActiveUser, type TokenState } from '../../../auth/token-state.ts';
import type { Services } from '../../../services.ts';
import type { readSubjectState, SubjectState } from '../grant-state.ts';
import type { Bounds } from './bounds.ts';

/** The rules about a subject token that can be told without one. */
export const subjectRules = ['USER_ACTIVE', 'SUBJECT_AUDIENCE'] as const;

/** A genuine subject token that breaks one of {@link subjectRules}. */
export class SubjectFault extends TokenFault {
  readonly rule: (typeof subjectRules)[number];

  constructor(rule: SubjectFault['rule'], message: string) {
    super(message);
    this.rule = rule;
  }
}

/**
 * Asserts that the user of a genuine subject token, issued at that instant, may use it.
 *
 * @throws {SubjectFault} when the user is gone or suspended; {@link TokenFault} when they ended it.
 */
export function assertUser(
  state: Pick<TokenState, 'userId' | 'isSuspended' | 'tokensValidAfter'>,
  at: Date,
): void {
  const fault = faultOfUser(state, at);
  if (!fault) return;
  throw isActiveUser(state) ? new TokenFault(fault) : new SubjectFault('USER_ACTIVE', fault);
}

/**
 * Who acts for the user of a token already, by the application that had it. One of the operator is where its user is; a
 * third party acts for them.
 */
export const firstActor = (
  clientId: string,
  { thirdParties }: Pick<SubjectState, 'thirdParties'>,
): ActClaim | undefined => (thirdParties.includes(clientId) ? { sub: clientId } : undefined);

/** Whether an application is among those that have acted. */
export const isNamedIn = (act: ActClaim | undefined, clientId: string): boolean =>
  act !== undefined &&
  (act.sub === clientId || act.client_id === clientId || isNamedIn(act.act, clientId));

/** The user on whose behalf an exchange is, proved by a subject token. */
interface Subject {
  readonly userId: string;
  /** The token's instant of issue: a sign-out after it ends the token, and all that comes from it. */
  readonly issuedAt: Date;
  /** When the token expires, in seconds since the epoch. */
  readonly exp: number;
  /** Who has acted so far. */
  readonly act: ActClaim | undefined;
  /** Who alone may act; absent: whoever may exchange the token. */
  readonly mayAct?: MayActClaim | undefined;
  /** The thumbprint of the key that the token is bound to; absent: it is a bearer token. */
  readonly boundTo?: string | undefined;
  /** The issued token's `lineage`: revoking any of these ends the token. */
  readonly lineage: readonly string[];
  readonly bounds: Bounds;
}

/** A subject token as it was sent in. Nothing is proved until it is verified, once the client has authenticated. */
interface PresentedToken {
  /** The claims by which {@link readSubjectState} finds the rest. */
  readonly claims: Parameters<typeof readSubjectState>[2] & Unproved<'organization_id'>;
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
  /** Whether a token of a user ends with every application that it came through, not a third party's alone. */
  readonly endsWithApplication: boolean;
  /** Reads a token that was sent in. Its work does not depend on whether the token exists. */
  readonly present: (
    services: Services,
    token: string,
    at: Date,
  ) => PresentedToken | Promise<PresentedToken>;
}
