import { z } from 'zod';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
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
const usersInput = z.object({ organizationId: z.string(), userIds: memberIds });
const applicationsInput = z.object({ organizationId: z.string(), applicationIds: memberIds });

/** An organization, and users to add or to set. */
export type OrganizationUsersInput = z.input<typeof usersInput>;
/** An organization, and applications to add or to set. */
export type OrganizationApplicationsInput = z.input<typeof applicationsInput>;

interface Changed {
  readonly organization: Organization;
  /** The ids of those who joined, in the given order. */
  readonly added: string[];
  /** The ids of those who left. */
  readonly removed: string[];
}

/**
 * Adds up to 5,000 users to an organization; existing members stay as they are. Raises
 * `Organization.Membership.Updated` with the new members.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the organization or the first user that is missing.
 */
export async function addOrganizationUsers(
  context: Context,
  input: OrganizationUsersInput,
): Promise<{ organization: Organization; addedUserIds: string[] }> {
  const { organizationId, userIds } = parseInput(usersInput, input);
  const { organization, added } = await change(context, 'user', organizationId, (tx) =>
    addMembers(tx, context, 'user', organizationId, userIds),
  );
  return { organization, addedUserIds: added };
}

/**
 * Removes a user, with the roles held there, from an organization. Raises `Organization.Membership.Updated`.
 *
 * @throws {NotFoundError} of the organization, or of a user who is not a member.
 */
export async function removeOrganizationUser(
  context: Context,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<{ organization: Organization; removedUserIds: string[] }> {
  const { organization, removed } = await change(context, 'user', organizationId, (tx) =>
    removeMember(tx, 'user', organizationId, userId),
  );
  return { organization, removedUserIds: removed };
}

/**
 * Sets the users of an organization, up to 5,000; those who stay keep their roles. Raises
 * `Organization.Membership.Updated` with those who joined and those who left.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the organization or the first user that is missing.
 */
export async function replaceOrganizationUsers(
  context: Context,
  input: OrganizationUsersInput,
): Promise<{ organization: Organization; addedUserIds: string[]; removedUserIds: string[] }> {
  const { organizationId, userIds } = parseInput(usersInput, input);
  const { organization, added, removed } = await change(context, 'user', organizationId, (tx) =>
    replaceMembers(tx, context, 'user', organizationId, userIds),
  );
  return { organization, addedUserIds: added, removedUserIds: removed };
}

/**
 * Adds up to 5,000 machine-to-machine applications to an organization; existing members stay as they are. Raises
 * `Organization.Membership.Updated` with the new members.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the organization or the first application that is missing;
 *   {@link NotAllowedError} on another type of application.
 */
export async function addOrganizationApplications(
  context: Context,
  input: OrganizationApplicationsInput,
): Promise<{ organization: Organization; addedApplicationIds: string[] }> {
  const { organizationId, applicationIds } = parseInput(applicationsInput, input);
  const { organization, added } = await change(context, 'application', organizationId, (tx) =>
    addMembers(tx, context, 'application', organizationId, applicationIds),
  );
  return { organization, addedApplicationIds: added };
}

/**
 * Removes an application, with the roles held there, from an organization. Raises `Organization.Membership.Updated`.
 *
 * @throws {NotFoundError} of the organization, or of an application that is not a member.
 */
export async function removeOrganizationApplication(
  context: Context,
  { organizationId, applicationId }: { organizationId: string; applicationId: string },
): Promise<{ organization: Organization; removedApplicationIds: string[] }> {
  const { organization, removed } = await change(context, 'application', organizationId, (tx) =>
    removeMember(tx, 'application', organizationId, applicationId),
  );
  return { organization, removedApplicationIds: removed };
}

/**
 * Sets the applications of an organization, up to 5,000; those that stay keep their roles. Raises
 * `Organization.Membership.Updated` with those that joined and those that left.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the organization or the first application that is missing;
 *   {@link NotAllowedError} on another type of application.
 */
export async function replaceOrganizationApplications(
  context: Context,
  input: OrganizationApplicationsInput,
): Promise<{
  organization: Organization;
  addedApplicationIds: string[];
  removedApplicationIds: string[];
}> {
  const { organizationId, applicationIds } = parseInput(applicationsInput, input);
  const { organization, added, removed } = await change(
    context,
    'application',
    organizationId,
    (tx) => replaceMembers(tx, context, 'application', organizationId, applicationIds),
  );
  return { organization, addedApplicationIds: added, removedApplicationIds: removed };
}

/** Records a change of members in the caller's transaction; nothing if nobody joined or left. */
export function recordMembership(
  tx: Transaction,
  context: Context,
  organizationId: string,
  membership: MembershipChange,
): Promise<void> {
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

async function removeMember(
  tx: Transaction,
  kind: MemberKind,
  organizationId: string,
  memberId: string,
): Promise<Pick<Changed, 'removed'>> {
  const { members, id } = tables[kind];
  const count = await tx.$executeRaw`
    DELETE FROM ${members} WHERE "organizationId" = ${organizationId} AND ${id} = ${memberId}`;
  if (count === 0) throw new NotFoundError(memberId);
  return { removed: [memberId] };
}

async function replaceMembers(
  ...[tx, context, kind, organizationId, ids]: Parameters<typeof addMembers>
): Promise<Pick<Changed, 'added' | 'removed'>> {
  const added = await addMembers(tx, context, kind, organizationId, ids);
  return { added, removed: await removeMembers(tx, kind, organizationId, ids) };
}

// The locks prevent deletion until the transaction ends. They are taken in order of id, so that two calls with the same
// users in different organizations cannot deadlock.
async function assertUsers(tx: Transaction, ids: readonly string[]): Promise<void> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "User" WHERE "id" = ANY(${[...ids]}::text[]) ORDER BY "id" FOR KEY SHARE`;
  assertFound(ids, rows);
}

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
  work: (tx: Transaction) => Promise<string[] | Partial<Pick<Changed, 'added' | 'removed'>>>,
): Promise<Changed> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Organization', organizationId);
    const done = await work(tx);
    const { added = [], removed = [] } = Array.isArray(done) ? { added: done } : done;
    await recordMembership(
      tx,
      context,
      organizationId,
      kind === 'user'
        ? { addedUserIds: added, removedUserIds: removed }
        : { addedApplicationIds: added, removedApplicationIds: removed },
    );
    const organization = await tx.organization.findUniqueOrThrow({ where: { id: organizationId } });
    return { organization, added, removed };
  });
}
