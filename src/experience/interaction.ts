import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { InteractionExpiredError, NotFoundError } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Actor, Context, InteractionAccess, VisitContext } from '../services.ts';

const parts = {
  verifications: true,
  application: true,
  newcomer: true,
} satisfies Prisma.InteractionInclude;

/** A running sign-in with its verifications. */
export type Interaction = Prisma.InteractionGetPayload<{ include: typeof parts }>;

/** Whether an interaction can continue. */
export const isLive = (
  interaction: Pick<Interaction, 'submittedAt' | 'expiresAt'>,
  at: Date,
): boolean => interaction.submittedAt === null && interaction.expiresAt > at;

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
  { id }: InteractionAccess,
): Promise<Interaction> {
  const interaction = await database.prisma.interaction.findUnique({
    where: { id },
    include: parts,
  });
  return assertLive(interaction, clock.now());
}

/**
 * Does a step of an interaction under a lock: of two concurrent steps, the second sees the result of the first.
 *
 * @throws {InteractionExpiredError} when it cannot continue; nothing was done.
 */
export async function changeInteraction<T>(
  { database, clock }: Pick<VisitContext, 'database' | 'clock'>,
  { id }: InteractionAccess,
  work: (tx: Transaction, interaction: Interaction) => Promise<T>,
): Promise<T> {
  return transaction(database, async (tx) => {
    await lockInteraction(tx, id);
    const interaction = await tx.interaction.findUnique({ where: { id }, include: parts });
    return work(tx, assertLive(interaction, clock.now()));
  });
}

/** Changes the row of a locked interaction, and returns it. */
export const updateInteraction = (
  tx: Transaction,
  { id }: Interaction,
  data: Prisma.InteractionUncheckedUpdateInput,
): Promise<Interaction> => tx.interaction.update({ where: { id }, data, include: parts });

async function lockInteraction(tx: Transaction, id: string): Promise<void> {
  try {
    await lockRow(tx, 'Interaction', id);
  } catch (error) {
    if (error instanceof NotFoundError) throw new InteractionExpiredError();
    throw error;
  }
}

function assertLive(interaction: Interaction | null, at: Date): Interaction {
  if (interaction && isLive(interaction, at)) return interaction;
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

/** How a person authenticated. */
export interface Authentication {
  readonly userId: string;
  /** Authentication method references (RFC 8176). */
  readonly methods: readonly string[];
  readonly event: Interaction['event'];
  readonly hasRegistered?: boolean;
}

/** Records who the person is. Earlier results no longer count. */
export function authenticate(
  tx: Transaction,
  { clock }: Pick<VisitContext, 'clock'>,
  interaction: Interaction,
  { userId, methods, event, hasRegistered = false }: Authentication,
): Promise<Interaction> {
  return updateInteraction(tx, interaction, {
    userId,
    authenticationMethods: [...methods],
    authenticatedAt: clock.now(),
    consentedAt: null,
    event,
    hasRegistered,
  });
}
