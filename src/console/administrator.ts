import { z } from 'zod';
import { everything } from '../auth/granting/setter-scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockName } from '../db/lock.ts';
import { folded } from '../db/sql.ts';
import { untold } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { InvalidInputError } from '../errors.ts';
import { Prisma, type User } from '../generated/prisma/client.ts';
import { newTraceId } from '../ids.ts';
import { AddressedInput, foldCase, type InputOf, parseInput } from '../input.ts';
import { type Asker, parseAddressed } from '../messages/senders/non-ascii-addresses.ts';
import { userHolder } from '../role-holders/holders.ts';
import { assign, recordRoles } from '../role-holders/operations.ts';
import { type Call, type Context, type Services, systemActor } from '../services.ts';
import { readSettingsForAll } from '../sign-in-experience/in-force.ts';
import { userConflicts, username } from '../users/fields.ts';
import { insertUser, updateUserSuspensionStatus, writePassword } from '../users/operations.ts';
import { currentPasswordAlgorithm, hashPassword } from '../users/password.ts';
import { rejections } from '../users/password-policy.ts';
import { hasAdministrator, restoreAdministratorRole } from './roles.ts';

const restored = z.object({ username, password: z.string() });
const input = new AddressedInput((emailAddress) =>
  restored.extend({ email: emailAddress.nullish() }),
);

/** Who becomes an administrator. */
export type AdministratorInput = InputOf<typeof input>;

/** The services that creating an administrator needs. */
export type Founder = Pick<Services, 'database' | 'clock' | 'config' | 'passwordCost'> &
  Partial<Call>;

const conflicts = {
  ...userConflicts,
  User_primaryEmail_key: { ...userConflicts.User_primaryEmail_key, path: ['email'] },
};

/**
 * Creates the first administrator. Raises `User.Created`.
 *
 * @param claim Uses up what entitles to it, in the same transaction; false if there is nothing to use up.
 * @returns The user; undefined where `claim` returned false or there is an administrator already.
 * @throws {InvalidInputError} {@link ConflictError} on `username` or `email`; the claim is not used up then.
 */
export async function createFirstAdministrator(
  services: Founder & Asker,
  given: AdministratorInput,
  claim: (tx: Transaction) => Promise<boolean>,
): Promise<User | undefined> {
  const { password, ...asked } = await parseAddressed(services, input, given);
  const person = { username: asked.username, primaryEmail: asked.email ?? null };
  const digest = await digestOf(services, password, person);
  return refuseConflict(conflicts, () =>
    transaction(services.database, async (tx) => {
      // Taken by every way to become the first, so that two of them at once make one.
      await lockName(tx, 'signet:bootstrap');
      if (!(await claim(tx)) || (await hasAdministrator(tx))) return untold(undefined);
      const roleId = await restoreAdministratorRole(tx, services.clock);
      const created = await insertUser(tx, asSystem(services), {
        ...person,
        passwordDigest: digest,
        passwordAlgorithm: currentPasswordAlgorithm,
      });
      await giveRole(tx, asSystem(services), created.result.id, roleId);
      return created;
    }),
  );
}

/** An administrator who was brought back or created. */
export interface RestoredAdministrator {
  readonly user: User;
  readonly isNew: boolean;
}

/**
 * Makes sure that somebody can sign in as an administrator: creates the user, or sets the password of the user with
 * that name, ends a suspension and gives the role. The sessions of that user end.
 *
 * @throws {InvalidInputError} {@link ConflictError}
 */
export async function restoreAdministrator(
  services: Founder,
  given: z.input<typeof restored>,
): Promise<RestoredAdministrator> {
  const { password, username: named } = parseInput(restored, given);
  const digest = await digestOf(services, password, { username: named, primaryEmail: null });
  const context = asSystem(services);
  const administrator = await refuseConflict(conflicts, () =>
    transaction(services.database, async (tx) => {
      await lockName(tx, 'signet:bootstrap');
      const roleId = await restoreAdministratorRole(tx, services.clock);
      const [known] = await tx.$queryRaw<{ id: string }[]>`
        SELECT "id" FROM "User" WHERE ${folded(Prisma.sql`"username"`)} = ${foldCase(named)}`;
      const written = known
        ? await writePassword(tx, context, { id: known.id, digest })
        : await insertUser(tx, context, {
            username: named,
            passwordDigest: digest,
            passwordAlgorithm: currentPasswordAlgorithm,
          });
      const { result: user } = written;
      await giveRole(tx, context, user.id, roleId);
      // The operator answers for this person, whoever made the account.
      await tx.user.update({ where: { id: user.id }, data: { setterScopes: [...everything] } });
      return written.with({ user, isNew: !known });
    }),
  );
  await updateUserSuspensionStatus(context, { id: administrator.user.id, isSuspended: false });
  return administrator;
}

async function digestOf(
  services: Founder,
  password: string,
  about: { readonly username: string; readonly primaryEmail: string | null },
): Promise<string> {
  const { passwordPolicy, branding } = await readSettingsForAll(services.database.prisma);
  const reasons = rejections(passwordPolicy, password, {
    ...about,
    productName: branding.productName,
  });
  if (reasons.length > 0) {
    throw new InvalidInputError(reasons.map(({ message }) => ({ path: ['password'], message })));
  }
  return hashPassword(services, password);
}

async function giveRole(
  tx: Transaction,
  context: Context,
  userId: string,
  roleId: string,
): Promise<void> {
  const given = { roleIds: [roleId], setterScopes: everything };
  const added = await assign(tx, userHolder, { userId }, given);
  await recordRoles(tx, context, userHolder, { userId }, { added });
  // This administrator can create others, so no setup link is needed any more.
  await tx.setupToken.deleteMany();
}

// The operations on users use no other service.
const asSystem = (services: Founder): Context =>
  ({
    traceId: newTraceId(),
    ip: null,
    userAgent: null,
    ...services,
    actor: systemActor,
  }) as Context;
