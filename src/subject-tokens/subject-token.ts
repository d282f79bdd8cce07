import { z } from 'zod';
import type { ActClaim } from '../auth/access-token.ts';
import type { Caller } from '../auth/caller.ts';
import { assertMayGive } from '../auth/granting.ts';
import { lockRow, lockUser } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import type { Prisma, SubjectToken } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { jsonObject, parseInput, text } from '../input.ts';
import type { Context } from '../services.ts';
import { generateToken } from './opaque-token.ts';

/** How long a subject token can be exchanged, in seconds. What is issued for it ends with it. */
export const subjectTokenTtlSeconds = 600;

/** How many subject tokens of a user may wait to be exchanged. */
export const maxWaitingSubjectTokens = 100;

const input = z.object({
  userId: z.string(),
  reason: text(1024).trim().min(1, 'must not be empty'),
  context: jsonObject.nullish(),
  applicationId: z.string().nullish(),
});

/** The context of a call by an agent. The claims of its token say who acted before it. */
type AgentContext = Context & {
  readonly caller?: Pick<Caller, 'scopes' | 'claims'> | null;
};

/**
 * Creates a token that lets an application act for a user once (RFC 8693 §1.1). The caller is the agent: the `act` claim
 * of what is issued names it. Raises no event; the row and the log keep who did it, and why.
 *
 * @returns The token's value too, which cannot be read again.
 * @throws {InvalidInputError} {@link NotFoundError} of the user or the application; {@link NotAllowedError} when the
 *   user is suspended, holds more than the caller or has {@link maxWaitingSubjectTokens}, or the application does not
 *   allow impersonation.
 */
export async function createSubjectToken(
  context: AgentContext,
  given: z.input<typeof input>,
): Promise<{ subjectToken: SubjectToken; token: string }> {
  const { userId, reason, context: data, applicationId } = parseInput(input, given);
  const { actor, caller, log } = context;
  if (actor.id === null)
    throw new NotAllowedError('Only a user or an application can be an agent.');
  const act = { sub: actor.id, ...(caller?.claims.act ? { act: caller.claims.act } : {}) };
  const { token, digest } = generateToken('SubjectToken');
  const subjectToken = await transaction(context.database, async (tx) => {
    await lockActiveUser(tx, userId);
    await assertMayGive(tx, context, { subjectIds: [userId] });
    if (applicationId != null) await assertImpersonates(tx, applicationId);
    // After the lock: a sign-out that came first must not end it.
    const now = context.clock.now();
    await assertRoom(tx, userId, now);
    return tx.subjectToken.create({
      data: {
        id: newId('SubjectToken'),
        userId,
        applicationId: applicationId ?? null,
        digest,
        reason,
        context: (data ?? {}) as Prisma.InputJsonObject,
        actor: { ...actor },
        // Plain JSON, but its type lacks the index signature that Prisma requires.
        act: act satisfies ActClaim as unknown as Prisma.InputJsonObject,
        origin: caller?.claims.lineage?.[0] ?? null,
        createdAt: now,
        expiresAt: new Date(now.getTime() + subjectTokenTtlSeconds * 1000),
      },
    });
  });
  log.info(
    { subjectTokenId: subjectToken.id, userId, applicationId, actor, reason },
    'a subject token was created',
  );
  return { subjectToken, token };
}

/**
 * Locks a user who may be given tokens.
 *
 * @throws {NotFoundError} {@link NotAllowedError} when the user is suspended.
 */
export async function lockActiveUser(tx: Transaction, userId: string): Promise<void> {
  const { isSuspended } = await lockUser(tx, userId);
  if (isSuspended) throw new NotAllowedError('The user is suspended.');
}

// Right for concurrent calls too: each holds the lock of the user.
async function assertRoom(tx: Transaction, userId: string, now: Date): Promise<void> {
  const waiting = { userId, usedAt: null, expiresAt: { gt: now } };
  if ((await tx.subjectToken.count({ where: waiting })) >= maxWaitingSubjectTokens) {
    throw new NotAllowedError(
      `At most ${maxWaitingSubjectTokens} subject tokens of a user can wait to be exchanged.`,
    );
  }
}

async function assertImpersonates(tx: Transaction, applicationId: string): Promise<void> {
  await lockRow(tx, 'Application', applicationId);
  const application = await tx.application.findUniqueOrThrow({ where: { id: applicationId } });
  if (!application.allowTokenExchange || !application.allowImpersonation) {
    throw new NotAllowedError('The application does not allow impersonation.');
  }
}
