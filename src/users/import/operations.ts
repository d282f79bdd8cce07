import { z } from 'zod';
import { assertMayLetIn, findReservedAddresses } from '../../auth/granting/may-open.ts';
import { setterScopesOf } from '../../auth/granting/setter-scopes.ts';
import { folded } from '../../db/sql.ts';
import type { Told } from '../../db/told.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import {
  ConflictError,
  type ErrorCode,
  InvalidInputError,
  NotAllowedError,
  type Refusal,
} from '../../errors.ts';
import { recordEvents } from '../../events/record.ts';
import { Prisma, type User } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import type { Context } from '../../services.ts';
import { createUserInput, userConflicts, verifiedAfter } from '../fields.ts';
import { currentPasswordAlgorithm, hashPassword } from '../password.ts';
import { userRecord } from '../payload.ts';
import { costOf, digestBounds, isWithinBounds } from './digest-cost.ts';
import {
  findPasswordAlgorithm,
  importedPasswordAlgorithms,
  importedPasswordFormats,
  readImportedDigest,
} from './imported-password.ts';

/** The most rows in one call. */
export const maxRows = 1_000;

/** A row of an import. */
export const importedUser = createUserInput
  .extend({
    passwordDigest: text(1024).nullish(),
    passwordAlgorithm: text(32).nullish(),
  })
  .transform(({ password, passwordDigest, passwordAlgorithm, ...fields }, context) => {
    const fault = (field: string, message: string) => {
      context.addIssue({ code: 'custom', path: [field], message });
      return z.NEVER;
    };
    if (passwordDigest == null && passwordAlgorithm == null) {
      return { ...fields, password: password ?? null, digest: null };
    }
    if (password != null) return fault('password', 'excludes passwordDigest');
    if (passwordDigest == null)
      return fault('passwordDigest', 'is required with passwordAlgorithm');
    const algorithm = findPasswordAlgorithm(passwordAlgorithm ?? '');
    if (!algorithm) {
      return fault('passwordAlgorithm', `must be one of ${importedPasswordAlgorithms.join(', ')}`);
    }
    const digest = readImportedDigest(algorithm, passwordDigest);
    if (digest === undefined) {
      return fault('passwordDigest', `must be as ${importedPasswordFormats[algorithm]}`);
    }
    if (!isWithinBounds(digest)) {
      return fault('passwordDigest', `must be within ${digestBounds[algorithm]}`);
    }
    return {
      ...fields,
      password: null,
      digest: {
        passwordDigest: digest,
        passwordAlgorithm: algorithm,
        passwordCost: costOf(digest),
      },
    };
  });

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
  readonly values: Prisma.UserCreateManyInput & { id: string };
}

/**
 * Creates up to 1,000 users at once, each as `createUser` does, or with a password digest of another system. A faulty
 * row is reported and does not stop the others. The others are written in one transaction, so a failed call writes
 * none. Raises `User.Created` for each user.
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
  const parsed = given.flatMap((user, index) => {
    try {
      const fields = parseInput(importedUser, user);
      return [{ index, ...fields, ...verifiedAfter(null, fields) }];
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      failures.push(failureOf(index, error));
      return [];
    }
  });
  const now = context.clock.now();
  // Before the transaction, because hashing takes longer than all the rest. One after the other: an import takes one
  // place in the queue, and continues once it has begun.
  const rows: Row[] = [];
  let isAdmitted = false;
  for (const { index, password, digest, profile, customData, ...fields } of parsed) {
    const hashed = password === null ? {} : await hashedPassword(context, password, { isAdmitted });
    isAdmitted ||= password !== null;
    rows.push({
      index,
      values: {
        ...fields,
        ...(digest ?? hashed),
        id: newId('User'),
        profile: (profile ?? {}) as Prisma.InputJsonObject,
        customData: (customData ?? {}) as Prisma.InputJsonObject,
        createdAt: now,
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

const hashedPassword = async (
  context: Context,
  password: string,
  turn: { isAdmitted: boolean },
) => ({
  passwordDigest: await hashPassword(context, password, turn),
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
  const addresses = given.flatMap(({ values }) => values.primaryEmail ?? []);
  const reserved = await findReservedAddresses(tx, context, addresses);
  const isReserved = ({ values }: Row) => reserved.has(values.primaryEmail ?? '');
  const rows = given.filter((row) => !isReserved(row));
  // The unique indexes decide which row wins, also between rows of this call.
  const inserted = await tx.user.createManyAndReturn({
    data: rows.map(({ values }) => ({ ...values, setterScopes })),
    skipDuplicates: true,
  });
  const byId = new Map(inserted.map((user) => [user.id, user]));
  const users = rows.flatMap(({ values }) => byId.get(values.id) ?? []);
  const defaults = await tx.role.findMany({
    where: { isDefault: true, type: 'USER' },
    select: { id: true, setterScopes: true },
  });
  await tx.userRole.createMany({
    data: users.flatMap(({ id: userId }) =>
      defaults.map(({ id: roleId, setterScopes }) => ({ userId, roleId, setterScopes })),
    ),
  });
  const told = await recordEvents(
    tx,
    context,
    users.map((user) => ({ type: 'User.Created', data: userRecord(user) })),
  );
  return told.with({
    users,
    failures: [
      ...given.filter(isReserved).map(({ index }) => failureOf(index, reservedAddress)),
      ...(await explainConflicts(
        tx,
        rows.filter(({ values }) => !byId.has(values.id)),
      )),
    ],
  });
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
