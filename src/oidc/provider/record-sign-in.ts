import { errors } from 'oidc-provider';
import { Counter } from 'prom-client';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { recordEvent } from '../../events/record.ts';
import { digestOf } from '../../keys/digest.ts';
import type { Context } from '../../services.ts';
import { readSignInExperience, type SessionPolicy } from '../../sign-in-experience/settings.ts';
import { userRecord } from '../../users/payload.ts';
import { beginSession } from '../sessions/operations.ts';

/** A sign-in: its user, its browser, and the session it begins. */
export interface SignIn {
  readonly userId: string;
  readonly applicationId: string;
  readonly sessionId: string;
  readonly ip: string;
  readonly userAgent: string | null;
  /** Whether the account was just created. `PostRegister` then reports this sign-in. */
  readonly isRegistration: boolean;
  /** The `uid` of the provider's interaction; absent without a browser. */
  readonly interactionUid?: string | undefined;
  /** When the person authenticated, if that was some time ago. */
  readonly authenticatedAt?: Date;
  /** How the person authenticated (RFC 8176). */
  readonly authenticationMethods: readonly string[];
}

/**
 * Records that a user signed in: `lastSignInAt`, the session, and `PostSignIn`.
 *
 * @throws {AccessDenied} when the user was deleted or suspended; nothing is written.
 */
export async function recordSignIn(context: Omit<Context, 'actor'>, signIn: SignIn): Promise<void> {
  const { sessionPolicy } = await readSignInExperience(context.database.prisma);
  await transaction(context.database, async (tx) => {
    if (!(await writeSignIn(tx, context, sessionPolicy, signIn))) throw new errors.AccessDenied();
  });
  countSignIn(context, signIn);
}

const counterName = 'signet_sign_ins_total';

/** Counts a sign-in that was written; one that a registration includes is none of its own. */
export function countSignIn(
  { metrics }: Pick<Context, 'metrics'>,
  { isRegistration }: Pick<SignIn, 'isRegistration'>,
): void {
  if (isRegistration) return;
  const known = metrics.getSingleMetric(counterName) as Counter | undefined;
  const help = 'Sign-ins of people.';
  (known ?? new Counter({ name: counterName, help, registers: [metrics] })).inc();
}

/**
 * Writes that a user signed in: `lastSignInAt`, the session, and `PostSignIn` unless it is part of a registration.
 *
 * @returns False if the user was deleted or suspended, or the sign-in was ended meanwhile; nothing may be committed then.
 */
export async function writeSignIn(
  tx: Transaction,
  context: Omit<Context, 'actor'>,
  sessionPolicy: SessionPolicy,
  {
    userId,
    isRegistration,
    interactionUid,
    authenticatedAt,
    authenticationMethods,
    ...data
  }: SignIn,
): Promise<boolean> {
  const actor = { type: 'USER', id: userId, clientId: data.applicationId } as const;
  const [user] = await tx.user.updateManyAndReturn({
    where: {
      id: userId,
      isSuspended: false,
      // A sign-in from before a password change or a forced sign-out no longer counts.
      ...(authenticatedAt && {
        OR: [{ tokensValidAfter: null }, { tokensValidAfter: { lte: authenticatedAt } }],
      }),
    },
    data: { lastSignInAt: context.clock.now() },
  });
  if (!user || (await isEnded(tx, context, interactionUid))) return false;
  const { sessionId: id, ...seen } = data;
  await beginSession(tx, context, sessionPolicy, { id, userId, ...seen, authenticationMethods });
  if (!isRegistration) {
    await recordEvent(tx, { ...context, actor }, 'PostSignIn', { user: userRecord(user), ...data });
  }
  return true;
}

/**
 * Whether a sign-in was ended while it was under way. A request that was running may have stored the provider's record
 * of it again; what ended it has locked the user, as this transaction has now.
 */
async function isEnded(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  uid: string | undefined,
): Promise<boolean> {
  if (uid === undefined) return false;
  const digest = digestOf(uid);
  const found = await tx.interaction.findUnique({ where: { digest }, select: { expiresAt: true } });
  return found !== null && found.expiresAt <= clock.now();
}
