import { z } from 'zod';
import { assertMayEase, type Leaving } from '../auth/granting/may-open.ts';
import { mayDoEverything } from '../auth/granting/setter-scopes.ts';
import { lockRow } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { raiseVersion } from '../db/versions.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import { type Organization, Prisma } from '../generated/prisma/client.ts';
import { distinct, parseInput } from '../input.ts';
import type { Context } from '../services.ts';
import { type MembershipChange, membershipData } from './payload.ts';

/** The kinds of members of an organization. */
export type MemberKind = 'user' | 'application';

const tables = {
  user: { members: Prisma.raw('"OrganizationUser"'), id: Prisma.raw('"userId"') },
  application: {
    members: Prisma.raw('"OrganizationApplication"'),
    id: Prisma.raw('"applicationId"'),
  },
};

/** The most members in one call. */
export const maxMembersACall = 5000;

const memberIds = distinct(z.string(), maxMembersACall);

/** What a change of members did. */
export interface Changed {
  readonly organization: Organization;
  /** The ids of those who joined, in the given order. */
  readonly added: string[];
  /** The ids of those who left. */
  readonly removed: string[];
}

/**
 * Adds up to 5,000 members of a kind to an organization; existing members stay as they are. Raises
 * `Organization.Membership.Updated` with the new members.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the organization or the first record that is missing;
 *   {@link NotAllowedError} on an application of another type than machine-to-machine.
 */
export async function addOrganizationMembers(
  context: Context,
  kind: MemberKind,
  organizationId: string,
  ids: readonly string[],
): Promise<Changed> {
  const wanted = parsed(kind, ids);
  return change(context, kind, organizationId, async (tx) => ({
    added: await addMembers(tx, context, kind, organizationId, wanted),
  }));
}

/**
 * Removes a member, with the roles held there, from an organization. Raises `Organization.Membership.Updated`.
 *
 * @throws {NotFoundError} of the organization, or of somebody who is not a member; {@link NotAllowedError} on a user who
 *   holds more than the caller, if the organization requires a second factor.
 */
export async function removeOrganizationMember(
  context: Context,
  kind: MemberKind,
  organizationId: string,
  memberId: string,
): Promise<Changed> {
  return change(context, kind, organizationId, (tx) =>
    removeMember(tx, context, kind, organizationId, memberId),
  );
}

/**
 * Sets the members of a kind of an organization, up to 5,000; those who stay keep their roles. Raises
 * `Organization.Membership.Updated` with those who joined and those who left.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the organization or the first record that is missing;
 *   {@link NotAllowedError} on an application of another type than machine-to-machine, and as
 *   {@link removeOrganizationMember}.
 */
export async function replaceOrganizationMembers(
  context: Context,
  kind: MemberKind,
  organizationId: string,
  ids: readonly string[],
): Promise<Changed> {
  const wanted = parsed(kind, ids);
  return change(context, kind, organizationId, async (tx) => {
    const changed = await replaceMembers(tx, context, kind, organizationId, wanted);
    if (changed.added.length + changed.removed.length > 0)
      await raiseVersion(tx, 'Organization', organizationId);
    return changed;
  });
}

const parsed = (kind: MemberKind, ids: readonly string[]): string[] => {
  const field = `${kind}Ids`;
  return parseInput(z.object({ [field]: memberIds }), { [field]: ids })[field] as string[];
};

/** Records a change of members in the caller's transaction; nothing if nobody joined or left. */
export function recordMembership(
  tx: Transaction,
  context: Context,
  organizationId: string,
  membership: MembershipChange,
): Promise<Told<void>> {
  return recordEvents(
    tx,
    context,
    membershipData(organizationId, membership).map((data) => ({
      type: 'Organization.Membership.Updated',
      data,
    })),
  );
}

/**
 * Adds members to an organization that the caller has locked; records no event.
 *
 * @returns Those who were not members before, in the given order.
 * @throws {NotFoundError} of the first that is missing; {@link NotAllowedError} on an application of another type than
 *   machine-to-machine.
 */
export async function addMembers(
  tx: Transaction,
  context: Context,
  kind: MemberKind,
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  await (kind === 'user' ? assertUsers(tx, ids) : assertApplications(tx, ids));
  const { members, id } = tables[kind];
  const rows = await tx.$queryRaw<{ id: string }[]>`
    INSERT INTO ${members} ("organizationId", ${id}, "createdAt")
    SELECT ${organizationId}::text, "id", ${context.clock.now()}::timestamptz FROM unnest(${[...ids]}::text[]) AS "wanted" ("id")
    ON CONFLICT DO NOTHING RETURNING ${id} AS "id"`;
  const added = new Set(rows.map((row) => row.id));
  return ids.filter((wanted) => added.has(wanted));
}

/**
 * Removes all members of a kind from an organization that the caller has locked; records no event.
 *
 * @returns The ids of those who left.
 */
export async function removeMembers(
  tx: Transaction,
  kind: MemberKind,
  organizationId: string,
  except: readonly string[] = [],
): Promise<string[]> {
  const { members, id } = tables[kind];
  const rows = await tx.$queryRaw<{ id: string }[]>`
    DELETE FROM ${members} AS "member"
     WHERE "organizationId" = ${organizationId}
       AND NOT EXISTS (SELECT 1 FROM unnest(${[...except]}::text[]) AS "kept" ("id") WHERE "kept"."id" = "member".${id})
    RETURNING ${id} AS "id"`;
  return rows.map((row) => row.id).sort();
}

/**
 * Checks that a caller may remove users from an organization, which may require a second factor of them.
 *
 * @throws {NotAllowedError} when one of them holds more than the caller.
 */
export async function assertMayLeave(
  tx: Transaction,
  context: Context,
  organizationId: string,
  leaving: Leaving,
): Promise<void> {
  const asking = mayDoEverything(context)
    ? null
    : await tx.organization.findFirst({ where: { id: organizationId, requiresFactor: true } });
  await assertMayEase(tx, context, asking?.id ?? null, leaving);
}

async function removeMember(
  tx: Transaction,
  context: Context,
  kind: MemberKind,
  organizationId: string,
  memberId: string,
): Promise<Pick<Changed, 'removed'>> {
  if (kind === 'user') await assertMayLeave(tx, context, organizationId, { leaving: [memberId] });
  if (kind === 'user') await holdUsers(tx, [memberId]);
  const { members, id } = tables[kind];
  const count = await tx.$executeRaw`
    DELETE FROM ${members} WHERE "organizationId" = ${organizationId} AND ${id} = ${memberId}`;
  if (count === 0) throw new NotFoundError(memberId);
  const removed = [memberId];
  if (kind === 'user') await noteDepartures(tx, context, organizationId, removed);
  return { removed };
}

async function replaceMembers(
  ...[tx, context, kind, organizationId, ids]: Parameters<typeof addMembers>
): Promise<Pick<Changed, 'added' | 'removed'>> {
  if (kind === 'user') {
    await assertMayLeave(tx, context, organizationId, { staying: ids });
    const leaving = await tx.organizationUser.findMany({
      where: { organizationId, userId: { notIn: [...ids] } },
      select: { userId: true },
    });
    await holdUsers(tx, [...ids, ...leaving.map(({ userId }) => userId)]);
  }
  const added = await addMembers(tx, context, kind, organizationId, ids);
  const removed = await removeMembers(tx, kind, organizationId, ids);
  if (kind === 'user') await noteDepartures(tx, context, organizationId, removed);
  return { added, removed };
}

/** Notes who was removed: they do not join just in time again. Call it with the users held. */
async function noteDepartures(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  organizationId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO "OrganizationDeparture" ("organizationId", "userId", "leftAt")
    SELECT ${organizationId}::text, "id", ${clock.now()}::timestamptz FROM unnest(${[...userIds]}::text[]) AS "left" ("id")
    ON CONFLICT ("organizationId", "userId") DO UPDATE SET "leftAt" = excluded."leftAt"`;
}

// The locks prevent deletion until the transaction ends. They are taken in order of id, so that two calls with the same
// users in different organizations cannot deadlock.
async function assertUsers(tx: Transaction, ids: readonly string[]): Promise<void> {
  assertFound(ids, await holdUsers(tx, ids));
}

const holdUsers = (tx: Transaction, ids: readonly string[]): Promise<{ id: string }[]> =>
  tx.$queryRaw`
    SELECT "id" FROM "User" WHERE "id" = ANY(${[...ids]}::text[]) ORDER BY "id" FOR KEY SHARE`;

async function assertApplications(tx: Transaction, ids: readonly string[]): Promise<void> {
  const rows = await tx.$queryRaw<{ id: string; isMachine: boolean }[]>`
    SELECT "id", "type" = 'MACHINE_TO_MACHINE' AS "isMachine" FROM "Application"
     WHERE "id" = ANY(${[...ids]}::text[]) ORDER BY "id" FOR KEY SHARE`;
  assertFound(ids, rows);
  if (rows.every(({ isMachine }) => isMachine)) return;
  throw new NotAllowedError('Only machine-to-machine applications can be members.');
}

function assertFound(ids: readonly string[], rows: readonly { id: string }[]): void {
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw new NotFoundError(missing);
}

function change(
  context: Context,
  kind: MemberKind,
  organizationId: string,
  work: (tx: Transaction) => Promise<Partial<Pick<Changed, 'added' | 'removed'>>>,
): Promise<Changed> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Organization', organizationId);
    const { added = [], removed = [] } = await work(tx);
    const told = await recordMembership(
      tx,
      context,
      organizationId,
      kind === 'user'
        ? { addedUserIds: added, removedUserIds: removed }
        : { addedApplicationIds: added, removedApplicationIds: removed },
    );
    const organization = await tx.organization.findUniqueOrThrow({ where: { id: organizationId } });
    return told.with({ organization, added, removed });
  });
}
