import { Prisma } from '../generated/prisma/client.ts';

/** A position in the log: the transaction that wrote the row, then the row's number. */
export interface EventPosition {
  /** A transaction id (xid8), in decimal. */
  readonly xid: string;
  readonly position: bigint;
  /**
   * The id of the event there. A database that went back to a backup, or whose standby took over, may have another event
   * at the same place. Null before the first event, and where only the place was kept.
   */
  readonly eventId: string | null;
}

/** The position before the first event. */
export const logStart: EventPosition = { xid: '0', position: 0n, eventId: null };

/** Compares two positions: negative if the first comes before the second, 0 if they are the same, else positive. */
export function comparePositions(a: EventPosition, b: EventPosition): number {
  if (a.xid === b.xid) return Number(a.position - b.position);
  // Decimal numbers without leading zeros.
  return a.xid.length - b.xid.length || (a.xid < b.xid ? -1 : 1);
}

/** A position as a cursor for clients. */
export const encodePosition = ({ xid, position, eventId }: EventPosition): string =>
  Buffer.from([xid, position, ...(eventId === null ? [] : [eventId])].join('.')).toString(
    'base64url',
  );

/** The position that a client's cursor stands for, or undefined if the cursor is malformed. */
export function decodePosition(cursor: string): EventPosition | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, xid, position, eventId = null] =
    /^(\d{1,19})\.(\d{1,18})(?:\.(evt_[0-9a-z]{26}))?$/.exec(text) ?? [];
  if (xid === undefined || position === undefined) return undefined;
  const place = { xid: String(BigInt(xid)), position: BigInt(position), eventId };
  return encodePosition(place) === cursor ? place : undefined;
}

/** A position in SQL. */
export const place = ({ xid, position }: Pick<EventPosition, 'xid' | 'position'>) =>
  Prisma.sql`(${xid}::xid8, ${position}::bigint)`;
