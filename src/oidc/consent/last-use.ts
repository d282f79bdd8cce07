import { inBatches } from '../../graphql/batches.ts';

/** When an application last got a token for somebody who was asked; null if it has got none. */
export const findLastUse = inBatches<string, Date | null>(async ({ database }, applicationIds) => {
  // One look into the index for each, however many people use it.
  const rows = await database.prisma.$queryRaw<{ lastUsedAt: Date | null }[]>`
      SELECT (SELECT max("lastUsedAt") FROM "UserGrant" g WHERE g."applicationId" = "asked"."id") AS "lastUsedAt"
        FROM unnest(${[...applicationIds]}::text[]) WITH ORDINALITY AS "asked" ("id", "place")
       ORDER BY "place"`;
  return rows.map(({ lastUsedAt }) => lastUsedAt);
});
