import { errors } from 'oidc-provider';
import type { Context } from '../auth/context.ts';
import { transaction } from '../db/transaction.ts';
import { recordEvent } from '../events/record.ts';
import { userRecord } from '../users/payload.ts';

/** Where a sign-in comes from and what it began. */
export interface SignIn {
  readonly userId: string;
  readonly applicationId: string;
  readonly sessionId: string;
  readonly ip: string;
  readonly userAgent: string | null;
}

/**
 * Records that a user signed in: `lastSignInAt` and `PostSignIn`.
 *
 * @throws {AccessDenied} when the user is gone or suspended by now; nothing is written.
 */
export async function recordSignIn(
  context: Omit<Context, 'actor'>,
  { userId, ...data }: SignIn,
): Promise<void> {
  const actor = { type: 'USER', id: userId, clientId: data.applicationId } as const;
  await transaction(context.database, async (tx) => {
    const [user] = await tx.user.updateManyAndReturn({
      where: { id: userId, isSuspended: false },
      data: { lastSignInAt: context.clock.now() },
    });
    if (!user) throw new errors.AccessDenied();
    await recordEvent(tx, { ...context, actor }, 'PostSignIn', { user: userRecord(user), ...data });
  });
}
