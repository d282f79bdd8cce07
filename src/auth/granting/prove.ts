import { lockUser } from '../../db/lock.ts';
import { folded } from '../../db/sql.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type MessageChannel, Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { foldCase } from '../../input.ts';
import { readRightsOf } from './holdings.ts';
import { covers, coversEverything, inCommon, type SetterScopes } from './setter-scopes.ts';

/**
 * Asks whether a proof of who a user is counts. Whoever set it up could read it or make it up: the sender of a code, an
 * identity provider, the creator of a one-time token. So it does not count for a user who holds more than that setter.
 * A user who does not is bound from then on to what the setter held: otherwise the setter, who may still be signed in
 * as them, would get each right that they get later. An administrator with `all` lifts the bound by `updateUser`.
 */
export async function mayProve(
  tx: Transaction,
  setterScopes: SetterScopes,
  userId: string,
): Promise<boolean> {
  if (coversEverything(setterScopes)) return true;
  const user = await lockUser(tx, userId);
  if (!covers(setterScopes, await readRightsOf(tx, [userId]))) return false;
  const bound = inCommon(user.setterScopes, setterScopes);
  await tx.user.update({ where: { id: userId }, data: { setterScopes: bound } });
  return true;
}

/** A message that may let its reader prove to be its recipient. */
interface Carried {
  readonly channel: MessageChannel;
  readonly recipient: string;
  readonly code: string | null;
  readonly link: string | null;
}

/**
 * Whether a sender may carry a message. It may not carry a code or a link to somebody who holds more than the setter of
 * the sender, who could read it.
 */
export async function mayCarry(
  prisma: PrismaClient,
  setterScopes: SetterScopes,
  { channel, recipient, code, link }: Carried,
): Promise<boolean> {
  if (coversEverything(setterScopes) || (code === null && link === null)) return true;
  const owners = await (channel === 'EMAIL'
    ? prisma.$queryRaw<{ id: string }[]>`
        SELECT "id" FROM "User" WHERE ${folded(Prisma.sql`"primaryEmail"`)} = ${foldCase(recipient)}`
    : prisma.$queryRaw<
        { id: string }[]
      >`SELECT "id" FROM "User" WHERE "primaryPhone" = ${recipient}`);
  const ids = owners.map(({ id }) => id);
  return covers(setterScopes, await readRightsOf(prisma, ids));
}
