import type { Delivery, PrismaClient } from '../../generated/prisma/client.ts';
import { changes } from '../../graphql/changes.ts';

const batchSize = 200;

/** A position among the changes of deliveries: the transaction that wrote, then the delivery. */
interface Place {
  readonly xid: string;
  readonly id: string;
}

/** Follows the deliveries of one webhook until it is deleted. Like the event log, it reads only settled changes. */
export async function followDeliveries(
  prisma: PrismaClient,
  webhookId: string,
): Promise<AsyncIterableIterator<Delivery, void, void>> {
  const [row] = await prisma.$queryRaw<{ xid: string }[]>`
    SELECT "signet_settled_xid"()::text AS "xid"`;
  let place: Place = { xid: row?.xid ?? '0', id: '' };
  return changes(async () => {
    const places = await prisma.$queryRaw<Place[]>`
      SELECT "changedIn"::text AS "xid", "id" FROM "Delivery"
       WHERE "webhookId" = ${webhookId}
         AND ("changedIn", "id") > (${place.xid}::xid8, ${place.id})
         AND "changedIn" < (SELECT "signet_settled_xid"())
       ORDER BY "changedIn", "id" LIMIT ${batchSize}`;
    const last = places.at(-1);
    if (!last) return (await exists(prisma, webhookId)) ? [] : undefined;
    place = last;
    const rows = await prisma.delivery.findMany({
      where: { id: { in: places.map(({ id }) => id) } },
    });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return places.flatMap(({ id }) => byId.get(id) ?? []);
  });
}

async function exists(prisma: PrismaClient, id: string): Promise<boolean> {
  return (await prisma.webhook.findUnique({ where: { id }, select: { id: true } })) !== null;
}
