import { Prisma } from '../../generated/prisma/client.ts';

/**
 * SQL for a delivery's id, for statements that make many. Like other ids it is a UUIDv7, of the millisecond that
 * another id holds and of a hash, so the same arguments give the same id.
 *
 * @param sibling SQL for the id, such as an event's; its prefix has three letters.
 * @param hashed SQL for the text of the hash.
 */
export const derivedDeliveryId = (
  sibling: Prisma.Sql,
  hashed: Prisma.Sql,
): Prisma.Sql => Prisma.sql`
  'dlv_' || substr(${sibling}, 5, 10) || 'e' || overlay(substr(md5(${hashed}), 1, 14) PLACING '8' FROM 3 FOR 0)`;
