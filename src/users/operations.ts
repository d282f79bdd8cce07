import { z } from 'zod';
import { assertMayCreateUsers, assertMayGive, assertMayGiveAddress } from '../auth/granting.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockUser } from '../db/lock.ts';
import { type Transaction, transaction, writeAhead } from '../db/transaction.ts';
import { insertUserRow, type UserFields, updateUserRow } from '../db/user-row.ts';
import { changesBetween, recordEvent } from '../events/record.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { jsonObject, parseInput, patched } from '../input.ts';
import type { Context } from '../services.ts';
import {
  type CreateUserInput,
  createUserInput,
  password,
  profileFields,
  userConflicts,
  userProfile,
  verifiedAfter,
  verifiedFields,
} from './fields.ts';
import { currentPasswordAlgorithm, hashPassword } from './password.ts';
import { userRecord } from './payload.ts';
import { endSessions, type OwnBrowser } from './sign-out.ts';

/**
 * Creates a user with the default roles. Raises `User.Created`.
 *
 * @throws {InvalidInputError} {@link ConflictError} on `username`, `primaryEmail` or `primaryPhone`;
 *   {@link NotAllowedError} when the user would get more than the caller holds.
 */
export async function createUser(context: Context, input: CreateUserInput): Promise<User> {
  const {
    password: plaintext,
    profile,
    customData,
    ...fields
  } = parseInput(createUserInput, input);
  // Hashing takes longer than all the rest, so it must not hold a connection.
  const digest = plaintext == null ? null : await hashPassword(plaintext);
  return refuseConflict(userConflicts, () =>
    transaction(context.database, (tx) =>
      insertUser(tx, context, {
        ...fields,
        ...verifiedAfter(null, fields),
        profile: (profile ?? {}) as Prisma.InputJsonObject,
        customData: (customData ?? {}) as Prisma.InputJsonObject,
        ...(digest === null
          ? {}
          : { passwordDigest: digest, passwordAlgorithm: currentPasswordAlgorithm }),
      }),
    ),
  );
}

/** Writes a new user with the default roles and records `User.Created`. */
export async function insertUser(
  tx: Transaction,
  context: Context,
  values: UserFields,
): Promise<User> {
  await assertMayCreateUsers(tx, context);
  await assertMayGiveAddress(tx, context, values.primaryEmail);
  const now = context.clock.now();
  const user = await insertUserRow(tx, {
    id: newId('User'),
    ...values,
    createdAt: now,
    updatedAt: now,
  });
  await writeAhead(
    tx,
    'default-roles',
    `INSERT INTO "UserRole" ("userId", "roleId")
     SELECT $1, "id" FROM "Role" WHERE "isDefault" AND "type" = 'USER'`,
    [user.id],
  );
  await recordEvent(tx, context, 'User.Created', userRecord(user));
  return user;
}

const updateUserInput = z.object({ id: z.string(), ...profileFields, ...verifiedFields });

/**
 * The input of `updateUser`: an absent field stays as it is; null clears it. A changed address is not verified, unless
 * the input says so.
 */
export type UpdateUserInput = z.input<typeof updateUserInput>;

/**
 * Changes a user's own fields. Raises `User.Data.Updated` if something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError}; {@link NotAllowedError} on a sign-in
 *   identifier of a user who holds more than the caller.
 */
export async function updateUser(context: Context, input: UpdateUserInput): Promise<User> {
  const { id, ...patch } = parseInput(updateUserInput, input);
  return refuseConflict(userConflicts, () =>
    changeUser(
      context,
      id,
      (user) => ({ ...patch, ...verifiedAfter(user, patch) }),
      async (tx, before) => {
        const isChanged = (field: (typeof identifiers)[number]) =>
          patch[field] !== undefined && patch[field] !== before[field];
        // Whoever sets where a user's codes go, or the name they sign in with, can sign in as them.
        if (identifiers.some(isChanged)) await assertMayGive(tx, context, { subjectIds: [id] });
        // A verified address lets its owner join organizations.
        if (isChanged('primaryEmail') || patch.isEmailVerified) {
          await assertMayGiveAddress(tx, context, patch.primaryEmail ?? before.primaryEmail);
        }
      },
    ),
  );
}

const identifiers = ['username', 'primaryEmail', 'primaryPhone'] as const;

const updateCustomDataInput = z.object({ id: z.string(), customData: jsonObject });
const updateProfileInput = z.object({ id: z.string(), profile: userProfile });

/**
 * Merges into a JSON object at the first level, as the contract says; null removes a key.
 *
 * @throws {InvalidInputError}
 */
export function merge(stored: Prisma.JsonValue, patch: Record<string, unknown>): Prisma.JsonObject {
  const merged = { ...(stored as Record<string, unknown>), ...patch };
  const kept = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
  return parseInput(jsonObject, kept) as Prisma.JsonObject;
}

/**
 * Merges into a user's custom data at the first level; null removes a key. Raises `User.Data.Updated`.
 *
 * @throws {InvalidInputError} {@link NotFoundError}
 */
export async function updateUserCustomData(
  context: Context,
  input: z.input<typeof updateCustomDataInput>,
): Promise<User> {
  const { id, customData } = parseInput(updateCustomDataInput, input);
  return changeUser(context, id, (user) => ({ customData: merge(user.customData, customData) }));
}

/**
 * Merges into a user's profile at the first level; null removes a key. Raises `User.Data.Updated`.
 *
 * @throws {InvalidInputError} {@link NotFoundError}
 */
export async function updateUserProfile(
  context: Context,
  input: z.input<typeof updateProfileInput>,
): Promise<User> {
  const { id, profile } = parseInput(updateProfileInput, input);
  return changeUser(context, id, (user) => ({ profile: merge(user.profile, profile) }));
}

const updatePasswordInput = z.object({ id: z.string(), password });

/**
 * Sets a user's password. Sessions, refresh tokens and all access tokens issued so far end. Raises `User.Data.Updated`,
 * whose data says only that there is a password.
 *
 * @throws {InvalidInputError} {@link NotFoundError}; {@link NotAllowedError} on a user who holds more than the caller.
 */
export async function updateUserPassword(
  context: Context,
  input: z.input<typeof updatePasswordInput>,
): Promise<User> {
  const { id, password: plaintext } = parseInput(updatePasswordInput, input);
  const digest = await hashPassword(plaintext);
  return transaction(context.database, (tx) => writePassword(tx, context, { id, digest }));
}

/**
 * Stores the digest of a new password, ends the user's sessions and tokens, and records `User.Data.Updated`.
 *
 * @param keep The browser in which the user sets it; the user stays signed in there.
 * @throws {NotFoundError}; {@link NotAllowedError} on a user who holds more than the caller.
 */
export async function writePassword(
  tx: Transaction,
  context: Context,
  { id, digest, keep }: { id: string; digest: string; keep?: OwnBrowser | undefined },
): Promise<User> {
  const before = await lockUser(tx, id);
  await assertMayGive(tx, context, { subjectIds: [id] });
  const after = await writePasswordDigest(tx, context, before, digest);
  await endSessions(tx, context, id, keep);
  return after;
}

/** Stores the digest of a locked user's new password, and records `User.Data.Updated`. Ends no session. */
export async function writePasswordDigest(
  tx: Transaction,
  context: Context,
  before: User,
  digest: string,
): Promise<User> {
  const after = await tx.user.update({
    where: { id: before.id },
    data: {
      passwordDigest: digest,
      passwordAlgorithm: currentPasswordAlgorithm,
      updatedAt: context.clock.now(),
    },
  });
  const [old, data] = [userRecord(before), userRecord(after)];
  await recordEvent(tx, context, 'User.Data.Updated', {
    ...data,
    changes: changesBetween(old, data) ?? {},
  });
  return after;
}

/**
 * Suspends a user, or ends the suspension. Suspending ends sessions, refresh tokens and all access tokens issued so
 * far. Raises `User.SuspensionStatus.Updated` if something changed.
 *
 * @throws {NotFoundError}; {@link NotAllowedError} when a suspension ends of a user who holds more than the caller.
 */
export async function updateUserSuspensionStatus(
  context: Context,
  { id, isSuspended }: { id: string; isSuspended: boolean },
): Promise<User> {
  return transaction(context.database, async (tx) => {
    const before = await lockUser(tx, id);
    if (before.isSuspended === isSuspended) return before;
    if (!isSuspended) await assertMayGive(tx, context, { subjectIds: [id] });
    const after = await tx.user.update({
      where: { id },
      data: { isSuspended, updatedAt: context.clock.now() },
    });
    if (isSuspended) await endSessions(tx, context, id);
    const data = userRecord(after);
    await recordEvent(tx, context, 'User.SuspensionStatus.Updated', {
      ...data,
      changes: changesBetween(userRecord(before), data) ?? {},
    });
    return after;
  });
}

async function changeUser(
  context: Context,
  id: string,
  patchOf: (user: User) => Partial<User>,
  check?: (tx: Transaction, before: User) => Promise<void>,
): Promise<User> {
  return transaction(context.database, async (tx) => {
    const before = await lockUser(tx, id);
    await check?.(tx, before);
    return writeUser(tx, context, before, patchOf(before));
  });
}

/** Changes a locked user, and records `User.Data.Updated` if something changed. */
export async function writeUser(
  tx: Transaction,
  context: Context,
  before: User,
  patch: Partial<User>,
): Promise<User> {
  const changes = changesBetween(userRecord(before), userRecord(patched(before, patch)));
  if (!changes) return before;
  const after = await updateUserRow(tx, before.id, { ...patch, updatedAt: context.clock.now() });
  await recordEvent(tx, context, 'User.Data.Updated', { ...userRecord(after), changes });
  return after;
}
