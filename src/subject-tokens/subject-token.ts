import { z } from 'zod';
import {
  type AccessTokenClaims,
  type ActClaim,
  type MayActClaim,
  revocableIds,
} from '../auth/access-token.ts';
import type { Caller } from '../auth/caller.ts';
import { assertMayBe } from '../auth/granting/may-open.ts';
import { lockRow, lockUser } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Prisma, SubjectToken } from '../generated/prisma/client.ts';
import { kindOfId, newId } from '../ids.ts';
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
  mayAct: z
    .object({ sub: z.string().nullish(), clientId: z.string().nullish() })
    .refine(
      ({ sub, clientId }) => sub != null || clientId != null,
      'must name a sub, a clientId or both',
    )
    .nullish(),
});

/** The context of a call by an agent. The claims of its token say who acted before it. */
type AgentContext = Context & {
  readonly caller?: Pick<Caller, 'scopes' | 'claims'> | null;
};

/**
 * Creates a token that lets an application act for a user once (RFC 8693 §1.1). The caller is the agent: the `act` claim
 * of what is issued names it. Raises `User.Impersonation.Started`; the row and the log keep who did it, and why too.
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
  const { userId, reason, context: data, applicationId, mayAct } = parseInput(input, given);
  const { actor, caller, log } = context;
  if (actor.id === null)
    throw new NotAllowedError('Only a user or an application can be an agent.');
  const act = { sub: actor.id, ...(caller?.claims.act ? { act: caller.claims.act } : {}) };
  const { token, digest } = generateToken('SubjectToken');
  const subjectToken = await transaction(context.database, async (tx) => {
    await lockActiveUser(tx, userId);
    await assertMayBe(tx, context, [userId]);
    if (applicationId != null) await assertImpersonates(tx, applicationId);
    if (mayAct) await assertActors(tx, mayAct);
    // After the lock: a sign-out that came first must not end it.
    const now = context.clock.now();
    await assertRoom(tx, userId, now);
    const created = await tx.subjectToken.create({
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
        ...(mayAct ? { mayAct: mayActOf(mayAct) } : {}),
        origin: caller ? originOf(caller.claims) : null,
        createdAt: now,
        expiresAt: new Date(now.getTime() + subjectTokenTtlSeconds * 1000),
      },
    });
    const told = await recordEvent(tx, context, 'User.Impersonation.Started', {
      userId,
      subjectTokenId: created.id,
      applicationId: created.applicationId,
      reason,
    });
    return told.with(created);
  });
  log.info(
    { subjectTokenId: subjectToken.id, userId, applicationId, actor, reason },
    'a subject token was created',
  );
  return { subjectToken, token };
}

/** What ends the agent's token, separated by spaces: it ends the subject token too. */
const originOf = (claims: AccessTokenClaims): string =>
  [...revocableIds(claims), claims.client_id].join(' ');

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

type MayAct = NonNullable<z.output<typeof input>['mayAct']>;

/** The claim `may_act` of what is issued (RFC 8693 §4.4). */
const mayActOf = ({ sub, clientId }: MayAct) =>
  ({
    ...(sub == null ? {} : { sub }),
    ...(clientId == null ? {} : { client_id: clientId }),
  }) satisfies MayActClaim;

/** @throws {NotFoundError} when nobody could ever act. */
async function assertActors(tx: Transaction, { sub, clientId }: MayAct): Promise<void> {
  const isThere = async (id: string, kinds: readonly string[]) => {
    const kind = kindOfId(id);
    if (kind === undefined || !kinds.includes(kind)) return false;
    const where = { where: { id } };
    return (kind === 'User' ? await tx.user.count(where) : await tx.application.count(where)) > 0;
  };
  if (sub != null && !(await isThere(sub, ['User', 'Application']))) throw new NotFoundError(sub);
  if (clientId != null && !(await isThere(clientId, ['Application'])))
    throw new NotFoundError(clientId);
}

async function assertImpersonates(tx: Transaction, applicationId: string): Promise<void> {
  await lockRow(tx, 'Application', applicationId);
  const application = await tx.application.findUniqueOrThrow({ where: { id: applicationId } });
  if (!application.allowTokenExchange || !application.allowImpersonation) {
    throw new NotAllowedError('The application does not allow impersonation.');
  }
}
