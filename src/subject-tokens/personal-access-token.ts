import { z } from 'zod';
import { assertMayBe, assertMayGive, assertMayOpenOwnApis } from '../auth/granting/may-open.ts';
import { accountIndicator, ownIndicators } from '../auth/scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { sqlOf, type Transaction, transaction } from '../db/transaction.ts';
import { InvalidInputError, NotAllowedError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { PersonalAccessToken } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { distinct, instant, name, parseInput, text } from '../input.ts';
import { resourceIndicator } from '../resources/operations.ts';
import { registeredSpelling } from '../resources/spellings.ts';
import type { Context } from '../services.ts';
import {
  credentialEvent,
  deletePersonalAccessTokens,
  revokeIssuedFor,
} from '../users/credentials.ts';
import { generateToken } from './opaque-token.ts';
import { lockActiveUser } from './subject-token.ts';

// RFC 6749 §3.3
const scopeName = text(128).regex(
  /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  'must be the name of a scope, without spaces',
);

/** How many personal access tokens of a user there can be that have not expired. */
export const maxPersonalAccessTokens = 100;

const input = z.object({
  userId: z.string(),
  name: name(),
  scopes: distinct(scopeName, 100).nullish(),
  resource: resourceIndicator.nullish(),
  expiresAt: instant,
});

const conflicts = {
  PersonalAccessToken_userId_name_key: {
    path: ['name'],
    message: 'The user has a personal access token of this name.',
  },
};

/**
 * Creates a long-lived token of a user, which an application exchanges for access tokens. Raises
 * `User.Credential.Updated`.
 *
 * @returns The token's value too, which cannot be read again.
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `name`; {@link NotAllowedError} when the
 *   user is suspended, holds more than the caller or has {@link maxPersonalAccessTokens}, or when it would give scopes of
 *   the management API that the caller does not hold.
 */
export async function createPersonalAccessToken(
  context: Context,
  given: z.input<typeof input>,
): Promise<{ personalAccessToken: PersonalAccessToken; token: string }> {
  const { userId, name, scopes, resource, expiresAt } = parseInput(input, given);
  if (expiresAt <= context.clock.now()) {
    throw new InvalidInputError([{ path: ['expiresAt'], message: 'must be in the future' }]);
  }
  if (resource != null && ownIndicators.has(resource) && scopes == null) {
    // Later the user may hold more than the caller does now.
    throw new InvalidInputError([
      { path: ['scopes'], message: "is required for one of Signet's own APIs" },
    ]);
  }
  const { token, digest } = generateToken('PersonalAccessToken');
  const personalAccessToken = await refuseConflict(conflicts, () =>
    transaction(context.database, async (tx) => {
      await lockActiveUser(tx, userId);
      await assertMayBe(tx, context, [userId]);
      // The account stays the user's when they come to hold more than the caller.
      assertMayOpenOwnApis(context, resource === accountIndicator ? [resource] : []);
      const registered = resource == null ? null : await registeredSpelling(sqlOf(tx), resource);
      await assertMayGiveScopes(tx, context, registered, scopes ?? []);
      const through = await lockThrough(tx, context);
      await assertRoom(tx, context, userId);
      const created = await tx.personalAccessToken.create({
        data: {
          id: newId('PersonalAccessToken'),
          userId,
          name,
          digest,
          scope: scopes?.join(' ') ?? null,
          resource: registered,
          ...through,
          // After the lock: a sign-out that came first must not end it.
          createdAt: context.clock.now(),
          expiresAt,
        },
      });
      const told = await recordEvents(tx, context, [
        credentialEvent(userId, 'PERSONAL_ACCESS_TOKEN', 'ADDED', created),
      ]);
      return told.with(created);
    }),
  );
  const { id: personalAccessTokenId } = personalAccessToken;
  context.log.info(
    { personalAccessTokenId, userId, actor: context.actor },
    'a personal access token was created',
  );
  return { personalAccessToken, token };
}

/**
 * Locks the application through which a user calls, and what the user has allowed it if it is a third party's: an end of
 * either has to find the token.
 *
 * @throws {NotFoundError} {@link NotAllowedError} when it ended meanwhile.
 */
async function lockThrough(
  tx: Transaction,
  { actor: { type, id: userId, clientId } }: Pick<Context, 'actor'>,
): Promise<Pick<PersonalAccessToken, 'clientId' | 'grantId'> | undefined> {
  if (type !== 'USER' || userId === null || clientId === undefined) return undefined;
  await lockRow(tx, 'Application', clientId);
  const { isThirdParty, grants } = await tx.application.findUniqueOrThrow({
    where: { id: clientId },
    select: { isThirdParty: true, grants: { where: { userId }, select: { id: true } } },
  });
  if (!isThirdParty) return { clientId, grantId: null };
  const [grant] = grants;
  if (!grant) throw new NotAllowedError('The caller allows the application nothing.');
  await lockRow(tx, 'UserGrant', grant.id);
  return { clientId, grantId: grant.id };
}

async function assertMayGiveScopes(
  tx: Transaction,
  context: Context,
  indicator: string | null | undefined,
  names: readonly string[],
): Promise<void> {
  if (indicator == null) return assertMayGive(tx, context, {});
  const resource = await tx.resource.findUnique({
    where: { indicator },
    select: { scopes: { where: { name: { in: [...names] } }, select: { id: true, name: true } } },
  });
  if (!resource) {
    throw new InvalidInputError([
      { path: ['resource'], message: 'is the indicator of no resource' },
    ]);
  }
  const known = new Set(resource.scopes.map(({ name }) => name));
  const issues = names.flatMap((name, index) =>
    // A later version may have the scope, which the caller does not hold now.
    ownIndicators.has(indicator) && !known.has(name)
      ? [{ path: ['scopes', String(index)], message: 'is no scope of the API' }]
      : [],
  );
  if (issues.length > 0) throw new InvalidInputError(issues);
  await assertMayGive(tx, context, { scopeIds: resource.scopes.map(({ id }) => id) });
}

// Right for concurrent calls too: each holds the lock of the user.
async function assertRoom(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  userId: string,
): Promise<void> {
  const live = { userId, expiresAt: { gt: clock.now() } };
  if ((await tx.personalAccessToken.count({ where: live })) >= maxPersonalAccessTokens) {
    throw new NotAllowedError(
      `A user can have at most ${maxPersonalAccessTokens} personal access tokens. Delete one first.`,
    );
  }
}

/**
 * Deletes a personal access token. The access tokens that were issued for it end too. Raises `User.Credential.Updated`.
 *
 * @returns The token's record in its last state.
 * @throws {NotFoundError}
 */
export async function deletePersonalAccessToken(
  context: Context,
  { id }: { readonly id: string },
): Promise<PersonalAccessToken> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'PersonalAccessToken', id);
    await revokeIssuedFor(tx, context, [id]);
    const deleted = await tx.personalAccessToken.delete({ where: { id } });
    const told = await recordEvents(tx, context, [
      credentialEvent(deleted.userId, 'PERSONAL_ACCESS_TOKEN', 'REMOVED', deleted),
    ]);
    return told.with(deleted);
  });
}

/**
 * Deletes all personal access tokens of a user, who must be locked, and ends what was issued for them. Raises
 * `User.Credential.Updated` for each.
 */
export async function deletePersonalAccessTokensOf(
  tx: Transaction,
  context: Context,
  userId: string,
): Promise<void> {
  await revokeIssuedFor(tx, context, await deletePersonalAccessTokens(tx, context, userId));
}

/** The scopes that bound what is issued for a token; null: all that the user holds. */
export const scopesOf = ({ scope }: Pick<PersonalAccessToken, 'scope'>): string[] | null =>
  scope === null ? null : scope.split(' ').filter((name) => name !== '');
