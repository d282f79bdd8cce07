import type { VisitContext } from '../services.ts';
import type { Interaction } from './interaction.ts';

const most = 100;

/** What gives access to an account besides the password. */
export type Reviewed = NonNullable<Awaited<ReturnType<typeof findToReview>>>;

/** Finds what the person should review at the end of a recovery; null if it is none, or there is nothing. */
export async function findToReview(
  { database: { prisma }, clock }: VisitContext,
  { event, userId }: Interaction,
) {
  if (event !== 'RESET_PASSWORD' || userId === null) return null;
  const oldestFirst = { where: { userId }, orderBy: { id: 'asc' }, take: most } as const;
  const identities = await prisma.userIdentity.findMany({
    ...oldestFirst,
    include: { provider: true },
  });
  const factors = await prisma.userFactor.findMany(oldestFirst);
  const tokens = await prisma.personalAccessToken.findMany({
    ...oldestFirst,
    where: { userId, expiresAt: { gt: clock.now() } },
  });
  return identities.length + factors.length + tokens.length > 0
    ? { identities, factors, tokens }
    : null;
}
