import { mayProve } from '../auth/granting/prove.ts';
import { inCommon, type SetterScopes } from '../auth/granting/setter-scopes.ts';
import { toNumericDate } from '../clock.ts';
import { lockRow, lockUser } from '../db/lock.ts';
import { rowsIn, rowsOf } from '../db/rows/rows.ts';
import { type Told, untold } from '../db/told.ts';
import { quietTransaction, type Transaction } from '../db/transaction.ts';
import {
  InteractionExpiredError,
  NotAllowedError,
  NotFoundError,
  VerificationFailedError,
} from '../errors.ts';
import type { InteractionEvent, Prisma, User } from '../generated/prisma/client.ts';
import type { Address } from '../proving/codes.ts';
import { noteProved } from '../proving/proved.ts';
import type { Actor, Context, InteractionAccess, VisitContext } from '../services.ts';

const parts = {
  verifications: { orderBy: [{ verifiedAt: 'asc' }, { createdAt: 'asc' }] },
  application: true,
  newcomer: true,
} satisfies Prisma.InteractionInclude;

type Row = Prisma.InteractionGetPayload<{ include: typeof parts }>;

/** A verification of an interaction. */
export type Verification = Row['verifications'][number] & { readonly purpose: InteractionEvent };

/** A running sign-in with its verifications. */
export type Interaction = Omit<Row, 'verifications'> & {
  readonly verifications: readonly Verification[];
};

// A check of the table gives each verification of an interaction a purpose.
const interactionOf = (row: Row): Interaction => row as Interaction;

/** Whether an interaction can continue. */
const isLive = (interaction: Pick<Row, 'submittedAt' | 'expiresAt'>, at: Date): boolean =>
  interaction.submittedAt === null && interaction.expiresAt > at;

/** Whether the person was signed in before the interaction, which then only asks for consent. */
export const hasSession = ({
  userId,
  authenticatedAt,
}: Pick<Interaction, 'userId' | 'authenticatedAt'>): boolean =>
  userId !== null && authenticatedAt === null;

// As long as a proof counts in the account API: see account/operations/proof.ts.
const recentMs = 600 * 1000;

/** Whether a person had signed in shortly before. */
export const isRecent = (authenticatedAt: Date, at: Date): boolean =>
  at.getTime() - authenticatedAt.getTime() < recentMs;

/**
 * Reads an interaction that can continue.
 *
 * @throws {InteractionExpiredError}
 */
export async function readInteraction(
  { database, clock }: Pick<VisitContext, 'database' | 'clock'>,
  { id }: Pick<InteractionAccess, 'id'>,
): Promise<Interaction> {
  const interactions = rowsOf<Row>(database, 'Interaction');
  return assertLive(await interactions.findUnique({ where: { id }, include: parts }), clock.now());
}

/**
 * Does a step of an interaction under a lock: of two concurrent steps, the second sees the result of the first.
 *
 * @throws {InteractionExpiredError} when it cannot continue; nothing was done.
 */
export const changeInteraction = <T>(
  context: Pick<VisitContext, 'database' | 'clock'>,
  access: InteractionAccess,
  work: (tx: Transaction, interaction: Interaction) => Promise<Told<T>>,
): Promise<T> =>
  moveInteraction(context, access, async (tx, interaction) => (await work(tx, interaction)).result);

/** Like {@link changeInteraction}, for steps that change the interaction alone: no event tells of it. */
export async function moveInteraction<T>(
  { database, clock }: Pick<VisitContext, 'database' | 'clock'>,
  { id }: InteractionAccess,
  work: (tx: Transaction, interaction: Interaction) => Promise<T>,
): Promise<T> {
  return quietTransaction(database, async (tx) => {
    await lockInteraction(tx, id);
    return work(tx, assertLive(await readRow(tx, id), clock.now()));
  });
}

/**
 * Changes the row of a locked interaction, and returns it. With another person, the answers to the steps before stand no
 * longer: somebody may also come from an identity provider, or go, without a step.
 */
export async function updateInteraction(
  tx: Transaction,
  { id }: Interaction,
  data: Prisma.InteractionUncheckedUpdateManyInput,
): Promise<Interaction> {
  if (data.userId !== undefined)
    await tx.sentForm.deleteMany({ where: { subject: id, standsUntil: { not: null } } });
  await tx.interaction.updateMany({ where: { id }, data });
  return interactionOf((await readRow(tx, id)) as Row);
}

const readRow = (tx: Transaction, id: string): Promise<Row | null> =>
  rowsIn<Row>(tx, 'Interaction').findUnique({ where: { id }, include: parts });

async function lockInteraction(tx: Transaction, id: string): Promise<void> {
  try {
    await lockRow(tx, 'Interaction', id);
  } catch (error) {
    if (error instanceof NotFoundError) throw new InteractionExpiredError();
    throw error;
  }
}

function assertLive(interaction: Row | null, at: Date): Interaction {
  if (interaction && isLive(interaction, at)) return interactionOf(interaction);
  throw new InteractionExpiredError(interaction?.restartUrl ?? null);
}

/** The context of a person in an interaction: the actor has no id until the person is known. */
export function asPerson(
  context: VisitContext,
  { applicationId }: Pick<Interaction, 'applicationId'>,
  userId: string | null,
): Context {
  const actor: Actor = { type: 'USER', id: userId, clientId: applicationId };
  return { ...context, actor };
}

/**
 * Locks the person of an interaction, so that their factors do not change meanwhile. Their sign-in no longer counts
 * after a suspension, or after a password change or forced sign-out elsewhere: somebody who only knew the old password
 * must not add a factor.
 *
 * @throws {NotAllowedError} when nobody has signed in yet; {@link InteractionExpiredError}
 */
export async function lockPerson(
  tx: Transaction,
  { userId, authenticatedAt, restartUrl }: Interaction,
): Promise<User> {
  if (userId === null || authenticatedAt === null)
    throw new NotAllowedError('Nobody has signed in yet.');
  const user = await lockUser(tx, userId);
  const { isSuspended, tokensValidAfter } = user;
  const isStale =
    tokensValidAfter !== null && toNumericDate(authenticatedAt) < toNumericDate(tokensValidAfter);
  if (isSuspended || isStale) throw new InteractionExpiredError(restartUrl);
  return user;
}

/**
 * Forgets who the person is, so that somebody else can sign in. What was added to the account stays.
 *
 * @throws {InteractionExpiredError}
 */
export const forgetPerson = (
  context: VisitContext,
  access: InteractionAccess,
): Promise<Interaction> =>
  moveInteraction(context, access, (tx, interaction) =>
    updateInteraction(tx, interaction, {
      userId: null,
      authenticationMethods: [],
      authenticatedAt: null,
      hasRegistered: false,
      identifier: null,
      event: 'SIGN_IN',
    }),
  );

/** How a person authenticated. */
export interface Authentication {
  readonly userId: string;
  /** What they were called by; absent: as the interaction has it. */
  readonly identifier?: string;
  /** Authentication method references (RFC 8176). */
  readonly methods: readonly string[];
  readonly event: Interaction['event'];
  readonly hasRegistered?: boolean;
  /**
   * What the setter of the proof held: the sender of the code, the identity provider, or the creator of the one-time
   * token. {@link everything} for a proof that nobody else set up, such as a password.
   */
  readonly through: SetterScopes;
  /** The address that the proof has shown to be theirs; null if it says nothing of one. */
  readonly proved: Address | null;
}

/**
 * What everybody held who set up what a proof came through, for {@link mayProve}. A headless application is one of them:
 * it sees the password or the code.
 */
export const throughAll = (
  { request, application }: Pick<Interaction, 'request' | 'application'>,
  through: SetterScopes,
): SetterScopes => (request === null ? through : inCommon(through, application.setterScopes));

/**
 * Records who the person is. Earlier results no longer count. Raises `User.Data.Updated` if their proof has verified an
 * address of theirs.
 *
 * @throws {VerificationFailedError} when the person holds more than {@link throughAll}; not for an account that was just
 *   made, which has setter scopes of its own.
 */
export async function authenticate(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  { userId, identifier, methods, event, through, proved, hasRegistered = false }: Authentication,
): Promise<Told<Interaction>> {
  if (!hasRegistered && !(await mayProve(tx, throughAll(interaction, through), userId)))
    throw new VerificationFailedError();
  const person = asPerson(context, interaction, userId);
  const told = proved ? await noteProved(tx, person, userId, proved) : untold(undefined);
  const known = await updateInteraction(tx, interaction, {
    userId,
    ...(identifier === undefined ? {} : { identifier }),
    authenticationMethods: [...methods],
    authenticatedAt: context.clock.now(),
    consentedAt: null,
    event,
    hasRegistered,
    // Once the person is known, the interaction no longer counts in the share of its client address.
    address: null,
  });
  return told.with(known);
}
