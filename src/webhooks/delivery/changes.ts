import type { EventPosition } from '../../events/position.ts';
import { changes } from '../../graphql/changes.ts';
import type { Services } from '../../services.ts';
import { type ChangePosition, watcherOf } from './watcher.ts';

const batchSize = 200;

/** A delivery that changed. */
export type ChangedDelivery = Pick<ChangePosition, 'id'>;

/**
 * Follows the deliveries of one webhook until it is deleted. Like the event log, it reads only settled changes, in the
 * order of their transactions.
 *
 * @param after Only changes by this transaction and later ones.
 */
export function followDeliveries(
  { database, log }: Pick<Services, 'database' | 'log'>,
  webhookId: string,
  after: Pick<EventPosition, 'xid'>,
): AsyncIterableIterator<ChangedDelivery, void, void> {
  const { prisma } = database;
  const watcher = watcherOf(database, log);
  let reached: ChangePosition = { xid: after.xid, id: '' };
  return changes(async (signal) => {
    const line = await watcher.changeAfter(webhookId, reached, signal);
    if (line === undefined) return undefined;
    const positions = await prisma.$queryRaw<ChangePosition[]>`
      SELECT "changedIn"::text AS "xid", "id" FROM "Delivery"
       WHERE "webhookId" = ${webhookId}
         AND ("changedIn", "id") > (${reached.xid}::xid8, ${reached.id}) AND "changedIn" < ${line}::xid8
       ORDER BY "changedIn", "id" LIMIT ${batchSize}`;
    reached = positions.at(-1) ?? reached;
    return positions;
  });
}
