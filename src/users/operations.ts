import { z } from 'zod';
import type { Context } from '../auth/context.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { changesBetween, recordEvent, recordEvents } from '../events/record.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import {
  emailAddress,
  jsonObject,
  name,
  parseInput,
  patched,
  phoneNumber,
  text,
  webUrl,
} from '../input.ts';
import { currentPasswordAlgorithm, hashPassword } from './password.ts';
import { userRecord } from './payload.ts';

const username = text(128).regex(
  /^[A-Za-z_][\w.-]*$/,
  'must begin with a letter or "_" and hold only letters, digits, ".", "_" and "-"',
);
const password = text(256).min(8, 'must have at least 8 characters');

const profileFields = {
  username: username.nullish(),
  primaryEmail: emailAddress.nullish(),
  primaryPhone: phoneNumber.nullish(),
  name: name().nullish(),
  avatar: webUrl.nullish(),
};

/** The fields of a new user. */
export const createUserInput = z.object({
  ...profileFields,
  password: password.nullish(),
  profile: jsonObject.nullish(),
  customData: jsonObject.nullish(),
});

/** What `createUser` takes. */
export type CreateUserInput = z.input<typeof createUserInput>;

/** Says which unique field of a user another user has already, by the index that refused it. */
export const userConflicts = {
  User_username_key: { path: ['username'], message: 'Another user has this user name.' },
  User_primaryEmail_key: {
    path: ['primaryEmail'],
    message: 'Another user has this e-mail address.',
  },
  User_primaryPhone_key: {
    path: ['primaryPhone'],
    message: 'Another user has this telephone number.',
  },
};

/**
 * Creates a user, who gets the roles marked as default. Raises `User.Created`.
 *
 * @throws {InvalidInputError} {@link ConflictError} on `username`, `primaryEmail` or `primaryPhone`.
 */
export async function createUser(context: Context, input: CreateUserInput): Promise<User> {
  const {
    password: plaintext,
    profile,
    customData,
    ...fields
  } = parseInput(createUserInput, input);
  // Hashing takes longer than the rest together: it must not hold a connection.
  const digest = plaintext == null ? null : await hashPassword(plaintext);
  return refuseConflict(userConflicts, () =>
    transaction(context.database, (tx) =>
      insertUser(tx, context, {
        ...fields,
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
  values: Partial<Prisma.UserUncheckedCreateInput>,
): Promise<User> {
  const now = context.clock.now();
  const user = await tx.user.create({
    data: { ...values, id: newId('User'), createdAt: now, updatedAt: now },
  });
  const defaults = await tx.role.findMany({
    where: { isDefault: true, type: 'USER' },
    select: { id: true },
  });
  if (defaults.length > 0) {
    await tx.userRole.createMany({
      data: defaults.map((role) => ({ userId: user.id, roleId: role.id })),
    });
  }
  await recordEvent(tx, context, 'User.Created', userRecord(user));
  return user;
}

const updateUserInput = z.object({ id: z.string(), ...profileFields });

/** What `updateUser` takes: an absent field is left alone, null clears it. */
export type UpdateUserInput = z.input<typeof updateUserInput>;

/**
 * Changes a user's own fields. Raises `User.Data.Updated` where something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError}
 */
export async function updateUser(context: Context, input: UpdateUserInput): Promise<User> {
  const { id, ...patch } = parseInput(updateUserInput, input);
  return refuseConflict(userConflicts, () => changeUser(context, id, () => patch));
}

const mergeInput = <Field extends string>(field: Field) =>
  z.object({ id: z.string(), [field]: jsonObject } as { id: z.ZodString } & Record<
    Field,
    typeof jsonObject
  >);
const updateCustomDataInput = mergeInput('customData');
const updateProfileInput = mergeInput('profile');

// At the first level, as the contract has it; null clears a key, as it clears a field.
function merge(stored: Prisma.JsonValue, patch: Record<string, unknown>): Prisma.JsonObject {
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
 * Sets a user's password. Sessions, refresh tokens and every access token issued so far end. Raises
 * `User.Data.Updated`, whose data says nothing about the password but that there is one.
 *
 * @throws {InvalidInputError} {@link NotFoundError}
 */
export async function updateUserPassword(
  context: Context,
  input: z.input<typeof updatePasswordInput>,
): Promise<User> {
  const { id, password: plaintext } = parseInput(updatePasswordInput, input);
  const digest = await hashPassword(plaintext);
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', id);
    const before = await tx.user.findUniqueOrThrow({ where: { id } });
    const now = context.clock.now();
    const after = await tx.user.update({
      where: { id },
      data: {
        passwordDigest: digest,
        passwordAlgorithm: currentPasswordAlgorithm,
        updatedAt: now,
      },
    });
    await endSessions(tx, context, id);
    const [old, data] = [userRecord(before), userRecord(after)];
    await recordEvent(tx, context, 'User.Data.Updated', {
      ...data,
      changes: changesBetween(old, data) ?? {},
    });
    return after;
  });
}

/**
 * Suspends a user or lets one in again. Suspending ends sessions, refresh tokens and every access token issued
 * so far. Raises `User.SuspensionStatus.Updated` where it changed something.
 *
 * @throws {NotFoundError}
 */
export async function updateUserSuspensionStatus(
  context: Context,
  { id, isSuspended }: { id: string; isSuspended: boolean },
): Promise<User> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', id);
    const before = await tx.user.findUniqueOrThrow({ where: { id } });
    if (before.isSuspended === isSuspended) return before;
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

/**
 * Deletes a user, with sessions, role assignments and organization memberships. Raises `User.Deleted`, and
 * `Organization.Membership.Updated` for each organization that loses a member.
 *
 * @returns The user as it last was.
 * @throws {NotFoundError}
 */
export async function deleteUser(context: Context, { id }: { id: string }): Promise<User> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', id);
    // What was deleted is what is told: an organization that removes the member meanwhile tells it itself.
    const memberships = await tx.$queryRaw<{ organizationId: string }[]>`
      WITH "left" AS (DELETE FROM "OrganizationUser" WHERE "userId" = ${id} RETURNING "organizationId")
      SELECT "organizationId" FROM "left" ORDER BY "organizationId"`;
    await tx.oidcRecord.deleteMany({ where: { accountId: id } });
    const user = await tx.user.delete({ where: { id } });
    await recordEvents(tx, context, [
      ...memberships.map(({ organizationId }) => ({
        type: 'Organization.Membership.Updated' as const,
        data: {
          organizationId,
          addedUserIds: [],
          removedUserIds: [id],
          addedApplicationIds: [],
          removedApplicationIds: [],
        },
      })),
      { type: 'User.Deleted', data: userRecord(user) },
    ]);
    return user;
  });
}

/**
 * Signs a user out everywhere: sessions, refresh tokens and every access token issued so far end. Raises no event.
 *
 * @throws {NotFoundError}
 */
export async function signOutUser(context: Context, { id }: { id: string }): Promise<User> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', id);
    await endSessions(tx, context, id);
    return tx.user.findUniqueOrThrow({ where: { id } });
  });
}

/**
 * Ends what a user's sign-ins left behind: sessions, codes, refresh tokens, and, for those who check, every
 * access token issued up to now.
 */
export async function endSessions(
  tx: Transaction,
  context: Context,
  userId: string,
): Promise<void> {
  await tx.oidcRecord.deleteMany({ where: { accountId: userId } });
  await tx.user.update({
    where: { id: userId },
    data: { tokensValidAfter: context.clock.now() },
  });
}

async function changeUser(
  context: Context,
  id: string,
  patchOf: (user: User) => Partial<User>,
): Promise<User> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', id);
    const before = await tx.user.findUniqueOrThrow({ where: { id } });
    const patch = patchOf(before);
    const changes = changesBetween(userRecord(before), userRecord(patched(before, patch)));
    if (!changes) return before;
    const after = await tx.user.update({
      where: { id },
      data: { ...(patch as Prisma.UserUncheckedUpdateInput), updatedAt: context.clock.now() },
    });
    await recordEvent(tx, context, 'User.Data.Updated', { ...userRecord(after), changes });
    return after;
  });
}
