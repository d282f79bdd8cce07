import { errors } from 'oidc-provider';
import { type Told, untold } from '../../db/told.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { recordEvent } from '../../events/record.ts';
import { digestOf } from '../../keys/digest.ts';
import { noteActive } from '../../metrics/active-people.ts';
import { counterOf } from '../../metrics/metrics.ts';
import type { Context, RequestCall, Services } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import type { SessionPolicy } from '../../sign-in-experience/settings.ts';
import { userRecord } from '../../users/payload.ts';
import { beginSession } from '../sessions/operations.ts';

/** A sign-in: its user, its browser, and the session it begins. */
export interface SignIn {
  readonly userId: string;
  readonly applicationId: string;
  readonly sessionId: string;
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
export async function recordSignIn(context: Services & RequestCall, signIn: SignIn): Promise<void> {
  const { sessionPolicy } = await readSettingsInForce(context.database.prisma, signIn.userId);
  await transaction(context.database, async (tx) => {
    const written = await writeSignIn(tx, context, sessionPolicy, signIn);
    if (!written) throw new errors.AccessDenied();
    return written;
  });
  countSignIn(context, signIn);
}

/** Counts a sign-in in the metrics. One that is part of a registration does not count, but its person was active. */
export function countSignIn(
  { metrics }: Pick<Context, 'metrics'>,
  { userId, isRegistration }: Pick<SignIn, 'userId' | 'isRegistration'>,
): void {
  noteActive(metrics, userId);
  if (isRegistration) return;
  counterOf(metrics, 'signet_sign_ins_total').inc({ outcome: 'succeeded' });
}

/**
 * Writes that a user signed in: `lastSignInAt`, the session, and `PostSignIn` unless it is part of a registration.
 *
 * @returns Null if the user was deleted or suspended, or the sign-in was ended meanwhile; nothing may be committed then.
 */
export async function writeSignIn(
  tx: Transaction,
  context: Services & RequestCall,
  sessionPolicy: SessionPolicy,
  {
    userId,
    isRegistration,
    interactionUid,
    authenticatedAt,
    authenticationMethods,
    ...signIn
  }: SignIn,
): Promise<Told<void> | null> {
  const { ip, userAgent } = context;
  const data = { ...signIn, ip, userAgent };
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
  if (!user || (await isEnded(tx, context, interactionUid))) return null;
  const { sessionId: id, ...seen } = data;
  await beginSession(tx, context, sessionPolicy, { id, userId, ...seen, authenticationMethods });
  // `PostRegister` told of it.
  if (isRegistration) return untold(undefined);
  return recordEvent(tx, { ...context, actor }, 'PostSignIn', { user: userRecord(user), ...data });
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
