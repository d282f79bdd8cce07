import { type RecordData, recordOf } from '../../events/catalogue/records.ts';
import type { RecordKind } from '../../events/record.ts';
import type { CrossAppConnection } from '../../generated/prisma/client.ts';

/** A connection as events show it. */
export const connectionRecord = (
  connection: CrossAppConnection,
): RecordData<'CrossAppConnection'> => recordOf('CrossAppConnection', connection);

/** Connections, whose updates are events. */
export const connections: RecordKind<'CrossAppConnection.Data.Updated', CrossAppConnection> = {
  updated: 'CrossAppConnection.Data.Updated',
  shown: connectionRecord,
  write: (tx, id, data) => tx.crossAppConnection.update({ where: { id }, data }),
};
