import { z } from 'zod';
import {
  assertMayBe,
  assertMayGiveAddress,
  assertMayLetIn,
  assertMayOpenOwnApis,
} from '../auth/granting/may-open.ts';
import {
  boundBy,
  coversEverything,
  everything,
  setterScopesOf,
} from '../auth/granting/setter-scopes.ts';
import { managementIndicator } from '../auth/scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockUser } from '../db/lock.ts';
import { type Told, untold } from '../db/told.ts';
import { type Transaction, transaction, writeAhead } from '../db/transaction.ts';
import { insertUserRow, type UserFields } from '../db/user-row.ts';
import { recordChange, recordEvent, recordEvents } from '../events/record.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { AddressedInput, type InputOf, jsonObject, parseInput, patched } from '../input.ts';
import { parseAddressed } from '../messages/senders/non-ascii-addresses.ts';
import type { Context } from '../services.ts';
import { credentialEvent } from './credentials.ts';
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
import { suspensions, userRecord, users } from './payload.ts';
import { endSessions, type OwnBrowser } from './sign-out.ts';
import { voidCodes, voidFormer, voidOvertaken } from './void-codes.ts';

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
  } = await parseAddressed(context, createUserInput, input);
  // Hashing takes longer than all the rest, so it must not hold a connection.
  const digest =
    plaintext == null ? null : await hashPassword(context, plaintext, { isLater: true });
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
): Promise<Told<User>> {
  await assertMayLetIn(tx, context);
  await assertMayGiveAddress(tx, context, values.primaryEmail);
  const now = context.clock.now();
  const user = await insertUserRow(tx, {
    id: newId('User'),
    setterScopes: setterScopesOf(context),
    ...values,
    createdAt: now,
    updatedAt: now,
  });
  await writeAhead(
    tx,
    'default-roles',
    `INSERT INTO "UserRole" ("userId", "roleId", "setterScopes")
     SELECT $1, "id", "setterScopes" FROM "Role" WHERE "isDefault" AND "type" = 'USER'`,
    [user.id],
  );
  const told = await recordEvent(tx, context, 'User.Created', userRecord(user));
  return told.with(user);
}

const updateUserInput = new AddressedInput((emailAddress) =>
  z.object({
    id: z.string(),
    ...profileFields(emailAddress),
    ...verifiedFields,
    isVouchedFor: z
      .boolean()
      .refine((value) => value, 'cannot be set to false')
      .nullish(),
  }),
);

/**
 * The input of `updateUser`: an absent field stays as it is; null clears it. A changed address is not verified, unless
 * the input says so.
 */
export type UpdateUserInput = InputOf<typeof updateUserInput>;

/**
 * Changes a user's own fields. Raises `User.Data.Updated` if something changed. If a caller without `all` changes how
 * the user signs in, the user is bound to the caller's rights. A caller with `all` lifts that by
 * `isVouchedFor`, which ends the user's sessions and raises `User.Session.Ended` for each.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError}; {@link NotAllowedError} on a sign-in
 *   identifier of a user who holds more than the caller.
 */
export async function updateUser(context: Context, input: UpdateUserInput): Promise<User> {
  const { id, isVouchedFor, ...patch } = await parseAddressed(context, updateUserInput, input);
  return refuseConflict(userConflicts, () =>
    changeUser(
      context,
      id,
      (user) => {
        const after = { ...patch, ...verifiedAfter(user, patch) };
        const bound = boundBy(context, user.setterScopes);
        if (isVouchedFor) return { ...after, setterScopes: [...everything] };
        return isIdentifiedAnew(user, after) ? { ...after, setterScopes: bound } : after;
      },
      async (tx, before, after) => {
        assertMayOpenOwnApis(context, isVouchedFor ? [managementIndicator] : []);
        // Whoever is signed in as the user may have used the way that was not vouched for.
        if (isVouchedFor && !coversEverything(before.setterScopes))
          await endSessions(tx, context, id, 'ENDED');
        // Whoever sets where a user's codes go, or the name they sign in with, can sign in as them.
        await assertMayBe(tx, context, isIdentifiedAnew(before, after) ? [id] : []);
        // A verified address lets its owner join organizations.
        const isAddress =
          (patch.primaryEmail !== undefined && patch.primaryEmail !== before.primaryEmail) ||
          patch.isEmailVerified;
        const address = isAddress ? (patch.primaryEmail ?? before.primaryEmail) : null;
        await assertMayGiveAddress(tx, context, address);
      },
    ),
  );
}

/** Whether a change lets somebody else than before prove to be this user. */
function isIdentifiedAnew(before: User, after: Partial<User>): boolean {
  const names = ['username', 'primaryEmail', 'primaryPhone'] as const;
  const flags = ['isEmailVerified', 'isPhoneVerified'] as const;
  return (
    names.some((field) => after[field] !== undefined && after[field] !== before[field]) ||
    flags.some((field) => after[field] && !before[field])
  );
}

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
 * whose data says only that there is a password, `User.Credential.Updated`, and `User.Session.Ended` for each session.
 *
 * @throws {InvalidInputError} {@link NotFoundError}; {@link NotAllowedError} on a user who holds more than the caller.
 */
export async function updateUserPassword(
  context: Context,
  input: z.input<typeof updatePasswordInput>,
): Promise<User> {
  const { id, password: plaintext } = parseInput(updatePasswordInput, input);
  const digest = await hashPassword(context, plaintext, { isLater: true });
  return transaction(context.database, (tx) => writePassword(tx, context, { id, digest }));
}

/**
 * Stores the digest of a new password, and ends the user's sessions and tokens. Records the events of
 * {@link updateUserPassword}.
 *
 * @param keep The browser in which the user sets it; the user stays signed in there.
 * @param verified What the way to the new password has verified about the user: it is told with it.
 * @throws {NotFoundError}; {@link NotAllowedError} on a user who holds more than the caller.
 */
export async function writePassword(
  tx: Transaction,
  context: Context,
  {
    id,
    digest,
    keep,
    verified = {},
  }: { id: string; digest: string; keep?: OwnBrowser | undefined; verified?: Partial<User> },
): Promise<Told<User>> {
  const before = await lockUser(tx, id);
  await assertMayBe(tx, context, [id]);
  const after = await writePasswordDigest(tx, context, before, digest, verified);
  await endSessions(tx, context, id, 'PASSWORD', keep);
  return after;
}

/**
 * Stores the digest of a locked user's new password, voids what was sent to their addresses before, and records
 * `User.Data.Updated` and `User.Credential.Updated`. Ends no session. Every new password of an existing user is written
 * here.
 */
export async function writePasswordDigest(
  tx: Transaction,
  context: Context,
  before: User,
  digest: string,
  verified: Partial<User> = {},
): Promise<Told<User>> {
  await voidCodes(tx, before);
  const patch = {
    ...verified,
    passwordDigest: digest,
    passwordAlgorithm: currentPasswordAlgorithm,
    setterScopes: boundBy(context, before.setterScopes),
    passwordCost: null,
  };
  // Events never show a password, but they report each new one.
  const told = await recordChange(tx, context, users, before, patch, {});
  const change = before.passwordDigest === null ? 'ADDED' : 'CHANGED';
  await recordEvents(tx, context, [credentialEvent(before.id, 'PASSWORD', change)]);
  return told;
}

/**
 * Suspends a user, or ends the suspension. Suspending ends sessions, refresh tokens and all access tokens issued so
 * far. Raises `User.SuspensionStatus.Updated` if something changed, and `User.Session.Ended` for each session.
 *
 * @throws {NotFoundError}; {@link NotAllowedError} when a suspension ends of a user who holds more than the caller.
 */
export async function updateUserSuspensionStatus(
  context: Context,
  { id, isSuspended }: { id: string; isSuspended: boolean },
): Promise<User> {
  return transaction(context.database, async (tx) => {
    const before = await lockUser(tx, id);
    const isEnding = before.isSuspended && !isSuspended;
    await assertMayBe(tx, context, isEnding ? [id] : []);
    if (before.isSuspended === isSuspended) return untold(before);
    const after = await recordChange(tx, context, suspensions, before, { isSuspended });
    if (isSuspended) await endSessions(tx, context, id, 'SUSPENSION');
    return after;
  });
}

/** Whether nothing bounds the rights that this user can have. */
export const isVouchedFor = ({ setterScopes }: Pick<User, 'setterScopes'>): boolean =>
  coversEverything(setterScopes);

async function changeUser(
  context: Context,
  id: string,
  patchOf: (user: User) => Partial<User>,
  check?: (tx: Transaction, before: User, patch: Partial<User>) => Promise<void>,
): Promise<User> {
  return transaction(context.database, async (tx) => {
    const before = await lockUser(tx, id);
    const patch = patchOf(before);
    await check?.(tx, before, patch);
    return writeUser(tx, context, before, patch);
  });
}

/**
 * Changes a locked user, and records `User.Data.Updated` if something changed. Every change of an address is written
 * here: what was sent to the one that they give up is void, and so are the codes for another in its place. Raises
 * `OrganizationInvitation.Data.Updated` for each invitation of the former address.
 */
export async function writeUser(
  tx: Transaction,
  context: Context,
  before: User,
  patch: Partial<User>,
): Promise<Told<User>> {
  const after = patched(before, patch);
  await voidFormer(tx, context, before, after);
  await voidOvertaken(tx, before, after);
  const isLifted = isVouchedFor(after) && !isVouchedFor(before);
  const otherChanges = isLifted ? { isVouchedFor: { from: false, to: true } } : undefined;
  return recordChange(tx, context, users, before, patch, otherChanges);
}
