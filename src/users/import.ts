import { z } from 'zod';
import type { Context } from '../auth/context.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { ConflictError, type ErrorCode, InvalidInputError, type Refusal } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import {
  findPasswordAlgorithm,
  importedPasswordAlgorithms,
  importedPasswordFormats,
  readImportedDigest,
} from './imported-password.ts';
import { createUserInput, userConflicts } from './operations.ts';
import { currentPasswordAlgorithm, hashPassword } from './password.ts';
import { userRecord } from './payload.ts';

const maxRows = 1_000;

const importedUser = createUserInput
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
    return {
      ...fields,
      password: null,
      digest: { passwordDigest: digest, passwordAlgorithm: algorithm },
    };
  });

const importInput = z.object({
  users: z.array(z.unknown()).max(maxRows, `must have at most ${maxRows} entries`),
});

/** A row of an import that was not taken. */
export interface ImportFailure {
  /** Its place in the input, from 0. */
  readonly index: number;
  readonly code: ErrorCode;
  readonly message: string;
}

interface Row {
  readonly index: number;
  readonly values: Prisma.UserCreateManyInput & { id: string };
}

/**
 * Creates up to 1,000 users at once, each as `createUser` does, with password digests of other systems taken over. A
 * row that is wrong is reported and does not stop the others; the others are written in one transaction, so a call
 * that fails has written none. Raises `User.Created` for each user.
 *
 * @throws {InvalidInputError} on more than 1,000 rows.
 */
export async function importUsers(
  context: Context,
  input: z.input<typeof importInput>,
): Promise<{ users: User[]; failures: ImportFailure[] }> {
  const { users: given } = parseInput(importInput, input);
  const failures: ImportFailure[] = [];
  const parsed = given.flatMap((user, index) => {
    try {
      return [{ index, ...parseInput(importedUser, user) }];
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      failures.push(failureOf(index, error));
      return [];
    }
  });
  const now = context.clock.now();
  // Before the transaction: hashing takes longer than the rest together.
  const rows = await Promise.all(
    parsed.map(
      async ({ index, password, digest, profile, customData, ...fields }): Promise<Row> => ({
        index,
        values: {
          ...fields,
          ...(digest ?? (password === null ? {} : await hashed(password))),
          id: newId('User'),
          profile: (profile ?? {}) as Prisma.InputJsonObject,
          customData: (customData ?? {}) as Prisma.InputJsonObject,
          createdAt: now,
          updatedAt: now,
        },
      }),
    ),
  );
  const written = await transaction(context.database, (tx) => insertUsers(tx, context, rows));
  return {
    users: written.users,
    failures: [...failures, ...written.failures].sort((a, b) => a.index - b.index),
  };
}

const hashed = async (password: string) => ({
  passwordDigest: await hashPassword(password),
  passwordAlgorithm: currentPasswordAlgorithm,
});

const failureOf = (index: number, { code, message }: Refusal): ImportFailure => ({
  index,
  code,
  message,
});

async function insertUsers(
  tx: Transaction,
  context: Context,
  rows: readonly Row[],
): Promise<{ users: User[]; failures: ImportFailure[] }> {
  // The unique indexes decide which row wins, against other rows of the call too.
  const inserted = await tx.user.createManyAndReturn({
    data: rows.map(({ values }) => values),
    skipDuplicates: true,
  });
  const byId = new Map(inserted.map((user) => [user.id, user]));
  const users = rows.flatMap(({ values }) => byId.get(values.id) ?? []);
  const defaults = await tx.role.findMany({
    where: { isDefault: true, type: 'USER' },
    select: { id: true },
  });
  await tx.userRole.createMany({
    data: users.flatMap((user) => defaults.map((role) => ({ userId: user.id, roleId: role.id }))),
  });
  await recordEvents(
    tx,
    context,
    users.map((user) => ({ type: 'User.Created', data: userRecord(user) })),
  );
  return {
    users,
    failures: await explainConflicts(
      tx,
      rows.filter(({ values }) => !byId.has(values.id)),
    ),
  };
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
     WHERE EXISTS (SELECT 1 FROM "User" u WHERE lower(u."username") = lower(v))
    UNION ALL
    SELECT 'User_primaryEmail_key', v FROM unnest(${of('primaryEmail')}::text[]) v
     WHERE EXISTS (SELECT 1 FROM "User" u WHERE lower(u."primaryEmail") = lower(v))
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
