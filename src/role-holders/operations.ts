import { z } from 'zod';
import { assertMayGive } from '../auth/granting/may-open.ts';
import {
  coversEverything,
  type SetterScopes,
  setterScopesOf,
} from '../auth/granting/setter-scopes.ts';
import { type Told, untold } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { isVersioned, raiseVersion } from '../db/versions.ts';
import { InvalidInputError, NotFoundError } from '../errors.ts';
import { type Origin, recordEvents } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { distinct, parseInput } from '../input.ts';
import type { Context } from '../services.ts';
import { type HolderKey, type RoleHolder, roleKinds } from './holders.ts';

/** The roles that one call gives to a holder. */
export const assignedIds = distinct(z.string(), 100);

/**
 * Gives roles to a holder, who keeps those they have.
 *
 * @throws {NotFoundError} of the holder or a role; {@link InvalidInputError} on roles of the other type;
 *   {@link NotAllowedError} when the roles hold more than the caller, or such a holder cannot have roles.
 */
export async function assignRoles<Column extends string, Row>(
  context: Context,
  holder: RoleHolder<Column, Row>,
  key: HolderKey<Column>,
  roleIds: readonly string[],
): Promise<Row> {
  const ids = parsed(holder, roleIds);
  return change(context, holder, key, async (tx) => ({
    added: await give(tx, context, holder, key, ids),
  }));
}

/**
 * Removes a role from a holder.
 *
 * @throws {NotFoundError} of the holder, or of a role that they do not have; {@link NotAllowedError} when such a holder
 *   cannot have roles.
 */
export async function removeRole<Column extends string, Row>(
  context: Context,
  holder: RoleHolder<Column, Row>,
  key: HolderKey<Column>,
  roleId: string,
): Promise<Row> {
  return change(context, holder, key, async (tx) => {
    const removed = await take(tx, holder, key, Prisma.sql`= ${roleId}`);
    if (removed.length === 0) throw new NotFoundError(roleId);
    return { removed };
  });
}

/**
 * Gives a holder these roles and removes all others.
 *
 * @throws Like {@link assignRoles}.
 */
export async function replaceRoles<Column extends string, Row>(
  context: Context,
  holder: RoleHolder<Column, Row>,
  key: HolderKey<Column>,
  roleIds: readonly string[],
): Promise<Row> {
  const ids = parsed(holder, roleIds);
  return change(context, holder, key, async (tx) => {
    const added = await give(tx, context, holder, key, ids);
    const removed = await take(tx, holder, key, Prisma.sql`<> ALL(${ids}::text[])`);
    // Whoever replaces roles may expect a version; one kind of holder has none.
    const [id] = Object.values<string>(key);
    const hasNewVersion =
      added.length + removed.length > 0 && id !== undefined && isVersioned(holder.name);
    if (hasNewVersion) await raiseVersion(tx, holder.name, id);
    return { added, removed, hasNewVersion };
  });
}

/**
 * Checks that the caller may give roles to that kind of holder. They cannot be deleted, or get other scopes, until the
 * transaction ends.
 *
 * @throws {NotFoundError} of the first that is missing; {@link InvalidInputError} on roles of the other type;
 *   {@link NotAllowedError} when they hold more than the caller.
 */
export async function assertAssignable(
  tx: Transaction,
  context: Context,
  { kind, type }: Pick<RoleHolder<string, unknown>, 'kind' | 'type'>,
  roleIds: readonly string[],
): Promise<void> {
  const { table, ids, article, noun } = roleKinds[kind];
  if (roleIds.length > 0) {
    const rows = await tx.$queryRaw<{ id: string; type: string }[]>`
      SELECT "id", "type"::text AS "type" FROM ${Prisma.raw(`"${table}"`)}
       WHERE "id" = ANY(${[...roleIds]}::text[]) ORDER BY "id" FOR KEY SHARE`;
    const types = new Map(rows.map((role) => [role.id, role.type]));
    const missing = roleIds.find((id) => !types.has(id));
    if (missing !== undefined) throw new NotFoundError(missing);
    const issues = roleIds.flatMap((id, index) =>
      types.get(id) === type
        ? []
        : [{ path: [ids, String(index)], message: `must be ${article} ${noun} of type ${type}` }],
    );
    if (issues.length > 0) throw new InvalidInputError(issues);
  }
  await assertMayGive(tx, context, { [ids]: roleIds });
}

/** Roles to give, and what the giver holds, which limits the assignment. */
interface GivenRoles {
  readonly roleIds: readonly string[];
  readonly setterScopes: SetterScopes;
}

/**
 * Writes assignments of roles. Those that are there stay as they are, unless somebody who holds `all` gives again what
 * somebody with fewer rights gave: then the role gives more than before.
 *
 * @returns The roles that the holder did not have, or not as fully: see {@link recordRoles}.
 */
export async function assign<Column extends string>(
  tx: Transaction,
  holder: RoleHolder<Column, unknown>,
  key: HolderKey<Column>,
  { roleIds, setterScopes }: GivenRoles,
): Promise<string[]> {
  if (roleIds.length === 0) return [];
  const { table, columns, values, role } = sqlOf(holder, key);
  const again = coversEverything(setterScopes)
    ? Prisma.sql`UPDATE SET "setterScopes" = EXCLUDED."setterScopes"
                  WHERE "had"."setterScopes" <> EXCLUDED."setterScopes"`
    : Prisma.sql`NOTHING`;
  const written = await tx.$queryRaw<{ id: string }[]>`
    INSERT INTO ${table} AS "had" (${columns}, ${role}, "setterScopes")
    SELECT ${values}, "roleId", ${[...setterScopes]}::text[]
      FROM unnest(${[...roleIds]}::text[]) AS "given" ("roleId")
    ON CONFLICT (${columns}, ${role}) DO ${again}
    RETURNING ${role} AS "id"`;
  return written.map(({ id }) => id);
}

/** Roles that a holder has got, or lost. */
interface RoleChange {
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  /** Whether the holder's version was raised. */
  readonly hasNewVersion?: boolean;
}

/** Records which roles a holder has got or lost; nothing if none. */
export async function recordRoles<Column extends string>(
  tx: Transaction,
  context: Origin,
  { event }: Pick<RoleHolder<Column, unknown>, 'event'>,
  key: HolderKey<Column>,
  { added = [], removed = [] }: RoleChange,
): Promise<Told<void>> {
  return added.length + removed.length > 0
    ? recordEvents(tx, context, [event(key, added, removed)])
    : untold(undefined);
}

const parsed = (
  { kind }: Pick<RoleHolder<string, unknown>, 'kind'>,
  roleIds: readonly string[],
): string[] => {
  const field = roleKinds[kind].ids;
  return parseInput(z.object({ [field]: assignedIds }), { [field]: roleIds })[field] as string[];
};

async function give<Column extends string>(
  tx: Transaction,
  context: Context,
  holder: RoleHolder<Column, unknown>,
  key: HolderKey<Column>,
  roleIds: readonly string[],
): Promise<string[]> {
  await assertAssignable(tx, context, holder, roleIds);
  return assign(tx, holder, key, { roleIds, setterScopes: setterScopesOf(context) });
}

/** Deletes assignments of the roles that the condition selects, and returns these roles. */
async function take<Column extends string>(
  tx: Transaction,
  holder: RoleHolder<Column, unknown>,
  key: HolderKey<Column>,
  which: Prisma.Sql,
): Promise<string[]> {
  const { table, role, matches } = sqlOf(holder, key);
  const rows = await tx.$queryRaw<{ id: string }[]>`
    DELETE FROM ${table} WHERE ${matches} AND ${role} ${which} RETURNING ${role} AS "id"`;
  return rows.map(({ id }) => id);
}

function change<Column extends string, Row>(
  context: Context,
  holder: RoleHolder<Column, Row>,
  key: HolderKey<Column>,
  work: (tx: Transaction) => Promise<RoleChange>,
): Promise<Row> {
  return transaction(context.database, async (tx) => {
    const before = await holder.lock(tx, key);
    const changed = await work(tx);
    const told = await recordRoles(tx, context, holder, key, changed);
    return told.with(changed.hasNewVersion ? await holder.lock(tx, key) : before);
  });
}

/** The join table of a holder as pieces of SQL; every name is from the code. */
function sqlOf<Column extends string>(holder: RoleHolder<Column, unknown>, key: HolderKey<Column>) {
  const named = (name: string) => Prisma.raw(`"${name}"`);
  return {
    table: named(`${holder.name}Role`),
    role: named(roleKinds[holder.kind].id),
    columns: Prisma.join(holder.key.map(named)),
    values: Prisma.join(holder.key.map((column) => Prisma.sql`${key[column]}::text`)),
    matches: Prisma.join(
      holder.key.map((column) => Prisma.sql`${named(column)} = ${key[column]}`),
      ' AND ',
    ),
  };
}
