import { z } from 'zod';
import { assertMayLetIn, findReservedAddresses } from '../../auth/granting/may-open.ts';
import { coversEverything, setterScopesOf } from '../../auth/granting/setter-scopes.ts';
import { folded } from '../../db/sql.ts';
import type { Told } from '../../db/told.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import {
  ConflictError,
  type ErrorCode,
  InvalidInputError,
  NotAllowedError,
  Refusal,
} from '../../errors.ts';
import { type NewEvent, recordEvents } from '../../events/record.ts';
import { Prisma, type User } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { parseInput } from '../../input.ts';
import { addressParser } from '../../messages/senders/non-ascii-addresses.ts';
import { userHolder } from '../../role-holders/holders.ts';
import { assertAssignable } from '../../role-holders/operations.ts';
import type { Context } from '../../services.ts';
import { userConflicts } from '../fields.ts';
import { currentPasswordAlgorithm, hashPassword } from '../password.ts';
import { userRecord } from '../payload.ts';
import { type ImportedUser, readImportedUser } from './imported-user.ts';

/** The most rows in one call. */
export const maxRows = 1_000;

const importInput = z.object({
  users: z.array(z.unknown()).max(maxRows, `must have at most ${maxRows} entries`),
});

/** A rejected row of an import. */
export interface ImportFailure {
  /** Its index in the input, from 0. */
  readonly index: number;
  readonly code: ErrorCode;
  readonly message: string;
}

interface Row {
  readonly index: number;
  readonly roleIds: readonly string[];
  readonly values: Prisma.UserCreateManyInput & { id: string };
}

/**
 * Creates up to 1,000 users at once, each as `createUser` does, or with what another system knows of them: a password
 * digest, since when they are there, their roles, and whether they are suspended. A faulty row is reported and does not
 * stop the others. The others are written in one transaction, so a failed call writes none. Raises `User.Created` for
 * each user, and `User.Roles.Updated` for each who has roles beside the default ones.
 *
 * @throws {InvalidInputError} on more than 1,000 rows; {@link NotAllowedError} when new users get more than the caller
 *   holds.
 */
export async function importUsers(
  context: Context,
  input: z.input<typeof importInput>,
): Promise<{ users: User[]; failures: ImportFailure[] }> {
  const { users: given } = parseInput(importInput, input);
  const failures: ImportFailure[] = [];
  const now = context.clock.now();
  const parse = addressParser(context);
  const parsed: ({ readonly index: number } & ImportedUser)[] = [];
  for (const [index, user] of given.entries()) {
    try {
      parsed.push({ index, ...(await readImportedUser(parse, user, now)) });
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      failures.push(failureOf(index, error));
    }
  }
  // Before the transaction, because hashing takes longer than all the rest. One after the other: an import takes one
  // place in the queue, and continues once it has begun.
  const rows: Row[] = [];
  let isAdmitted = false;
  for (const { index, password, digest, roleIds, ...fields } of parsed) {
    const hashed = password === null ? {} : await hashedPassword(context, password, isAdmitted);
    isAdmitted ||= password !== null;
    rows.push({
      index,
      roleIds: roleIds ?? [],
      values: {
        ...fields,
        ...(digest ?? hashed),
        id: newId('User'),
        profile: (fields.profile ?? {}) as Prisma.InputJsonObject,
        customData: (fields.customData ?? {}) as Prisma.InputJsonObject,
        isSuspended: fields.isSuspended ?? false,
        createdAt: fields.createdAt ?? now,
        updatedAt: now,
      },
    });
  }
  const written = await transaction(context.database, (tx) => insertUsers(tx, context, rows));
  return {
    users: written.users,
    failures: [...failures, ...written.failures].sort((a, b) => a.index - b.index),
  };
}

const hashedPassword = async (context: Context, password: string, isAdmitted: boolean) => ({
  passwordDigest: await hashPassword(context, password, { isAdmitted, isLater: true }),
  passwordAlgorithm: currentPasswordAlgorithm,
});

const failureOf = (index: number, { code, message }: Refusal): ImportFailure => ({
  index,
  code,
  message,
});

const reservedAddress = new NotAllowedError(
  'primaryEmail: Who has this address gets rights that the access token does not have itself.',
);

async function insertUsers(
  tx: Transaction,
  context: Context,
  given: readonly Row[],
): Promise<Told<{ users: User[]; failures: ImportFailure[] }>> {
  await assertMayLetIn(tx, context, given.length > 0);
  const setterScopes = setterScopesOf(context);
  const refusals = await findRefusals(tx, context, given);
  const rows = given.filter((row) => !refusals.has(row));
  // The unique indexes decide which row wins, also between rows of this call.
  const inserted = await tx.user.createManyAndReturn({
    data: rows.map(({ values }) => ({ ...values, setterScopes })),
    skipDuplicates: true,
  });
  const byId = new Map(inserted.map((user) => [user.id, user]));
  const created = rows.flatMap(({ values, roleIds }) => {
    const user = byId.get(values.id);
    return user ? [{ user, roleIds }] : [];
  });
  const defaults = await giveRoles(tx, created, setterScopes);
  const told = await recordEvents(
    tx,
    context,
    created.flatMap(({ user, roleIds }) => {
      const events: NewEvent[] = [{ type: 'User.Created', data: userRecord(user) }];
      const added = roleIds.filter((id) => !defaults.has(id));
      if (added.length > 0) events.push(userHolder.event({ userId: user.id }, added, []));
      return events;
    }),
  );
  return told.with({
    users: created.map(({ user }) => user),
    failures: [
      ...[...refusals].map(([{ index }, refusal]) => failureOf(index, refusal)),
      ...(await explainConflicts(
        tx,
        rows.filter(({ values }) => !byId.has(values.id)),
      )),
    ],
  });
}

/**
 * Gives new users the default roles and their own.
 *
 * @returns The default roles.
 */
async function giveRoles(
  tx: Transaction,
  created: readonly { readonly user: User; readonly roleIds: readonly string[] }[],
  setterScopes: readonly string[],
): Promise<ReadonlySet<string>> {
  const defaults = await tx.role.findMany({
    where: { isDefault: true, type: 'USER' },
    select: { id: true },
  });
  const defaultIds = defaults.map(({ id }) => id);
  const given = created.flatMap(({ user, roleIds }) =>
    roleIds.map((roleId) => ({ userId: user.id, roleId })),
  );
  const giveDefaults = () => tx.$executeRaw`
    INSERT INTO "UserRole" ("userId", "roleId", "setterScopes")
    SELECT u, r."id", r."setterScopes"
      FROM unnest(${created.map(({ user }) => user.id)}::text[]) u CROSS JOIN "Role" r
     WHERE r."id" = ANY(${defaultIds}::text[])
        ON CONFLICT DO NOTHING`;
  const giveOwn = () => tx.$executeRaw`
    INSERT INTO "UserRole" ("userId", "roleId", "setterScopes")
    SELECT g."userId", g."roleId", ${[...setterScopes]}::text[]
      FROM unnest(${given.map(({ userId }) => userId)}::text[],
                  ${given.map(({ roleId }) => roleId)}::text[]) AS g ("userId", "roleId")
        ON CONFLICT DO NOTHING`;
  // The first that gives a role counts, and it ends as if the caller had assigned it after the creation.
  const [first, second] = coversEverything(setterScopes)
    ? [giveOwn, giveDefaults]
    : [giveDefaults, giveOwn];
  await first();
  await second();
  return new Set(defaultIds);
}

/** The rows that would give what the caller may not give, or roles that there are not. */
async function findRefusals(
  tx: Transaction,
  context: Context,
  rows: readonly Row[],
): Promise<ReadonlyMap<Row, Refusal>> {
  const addresses = rows.flatMap(({ values }) => values.primaryEmail ?? []);
  const reserved = await findReservedAddresses(tx, context, addresses);
  // Most rows of an import have the same few lists of roles.
  const keyOf = (roleIds: readonly string[]) => JSON.stringify(roleIds);
  const lists = new Map(
    [[], ...rows.map(({ roleIds }) => roleIds)].map((roleIds) => [keyOf(roleIds), roleIds]),
  );
  const unassignable = new Map<string, Refusal>();
  for (const [key, roleIds] of lists) {
    try {
      await assertAssignable(tx, context, userHolder, roleIds);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      unassignable.set(key, error);
    }
  }
  return new Map(
    rows.flatMap((row) => {
      const refusal = reserved.has(row.values.primaryEmail ?? '')
        ? reservedAddress
        : unassignable.get(keyOf(row.roleIds));
      return refusal ? [[row, refusal] as const] : [];
    }),
  );
}

async function explainConflicts(
  tx: Transaction,
  refused: readonly Row[],
): Promise<ImportFailure[]> {
  if (refused.length === 0) return [];
  const of = (field: 'username' | 'primaryEmail' | 'primaryPhone') =>
    refused.flatMap(({ values }) => values[field] ?? []);
  const taken = await tx.$queryRaw<{ index: keyof typeof userConflicts; value: string }[]>`
    SELECT 'User_username_key' AS "index", v AS "value" FROM unnest(${of('username')}::text[]) v
     WHERE EXISTS (SELECT 1 FROM "User" u WHERE ${folded(Prisma.sql`u."username"`)} = ${folded(Prisma.sql`v`)})
    UNION ALL
    SELECT 'User_primaryEmail_key', v FROM unnest(${of('primaryEmail')}::text[]) v
     WHERE EXISTS (SELECT 1 FROM "User" u WHERE ${folded(Prisma.sql`u."primaryEmail"`)} = ${folded(Prisma.sql`v`)})
    UNION ALL
    SELECT 'User_primaryPhone_key', v FROM unnest(${of('primaryPhone')}::text[]) v
     WHERE EXISTS (SELECT 1 FROM "User" u WHERE u."primaryPhone" = v)`;
  const keys = new Set(taken.map(({ index, value }) => `${index} ${value}`));
  return refused.map(({ index, values }) => {
    const { username, primaryEmail } = values;
    const broken =
      username != null && keys.has(`User_username_key ${username}`)
        ? userConflicts.User_username_key
        : primaryEmail != null && keys.has(`User_primaryEmail_key ${primaryEmail}`)
          ? userConflicts.User_primaryEmail_key
          : userConflicts.User_primaryPhone_key;
    return failureOf(index, new ConflictError(broken.path, `${broken.path}: ${broken.message}`));
  });
}
