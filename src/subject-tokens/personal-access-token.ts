import { z } from 'zod';
import { assertMayGive } from '../auth/granting.ts';
import { ownIndicators } from '../auth/scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { InvalidInputError, NotAllowedError } from '../errors.ts';
import type { PersonalAccessToken } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { distinct, fault, instant, name, parseInput, text } from '../input.ts';
import { isResourceIndicator, maxAccessTokenTtlSeconds } from '../resources/operations.ts';
import type { Context } from '../services.ts';
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
  resource: text(2048)
    .refine(
      isResourceIndicator,
      fault('INVALID_FORMAT', 'must be an absolute URI without a fragment'),
    )
    .nullish(),
  expiresAt: instant,
});

const conflicts = {
  PersonalAccessToken_userId_name_key: {
    path: ['name'],
    message: 'The user has a personal access token of this name.',
  },
};

/**
 * Creates a long-lived token of a user, which an application exchanges for access tokens. Raises no event.
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
      await assertMayGive(tx, context, { subjectIds: [userId] });
      if (resource != null) await assertMayGiveScopes(tx, context, resource, scopes ?? []);
      await assertRoom(tx, context, userId);
      return tx.personalAccessToken.create({
        data: {
          id: newId('PersonalAccessToken'),
          userId,
          name,
          digest,
          scope: scopes?.join(' ') ?? null,
          resource: resource ?? null,
          // After the lock: a sign-out that came first must not end it.
          createdAt: context.clock.now(),
          expiresAt,
        },
      });
    }),
  );
  const { id: personalAccessTokenId } = personalAccessToken;
  context.log.info(
    { personalAccessTokenId, userId, actor: context.actor },
    'a personal access token was created',
  );
  return { personalAccessToken, token };
}

async function assertMayGiveScopes(
  tx: Transaction,
  context: Context,
  indicator: string,
  names: readonly string[],
): Promise<void> {
  const resource = await tx.resource.findUnique({
    where: { indicator },
    select: { scopes: { where: { name: { in: [...names] } }, select: { id: true } } },
  });
  if (!resource) {
    throw new InvalidInputError([
      { path: ['resource'], message: 'is the indicator of no resource' },
    ]);
  }
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
 * Deletes a personal access token. The access tokens that were issued for it end too. Raises no event.
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
    return tx.personalAccessToken.delete({ where: { id } });
  });
}

/** Deletes all personal access tokens of a user, and ends what was issued for them. Raises no event. */
export async function deletePersonalAccessTokensOf(
  tx: Transaction,
  context: Pick<Context, 'clock'>,
  userId: string,
): Promise<void> {
  const tokens = await tx.personalAccessToken.findMany({
    where: { userId },
    select: { id: true },
  });
  if (tokens.length === 0) return;
  const ids = tokens.map(({ id }) => id);
  await revokeIssuedFor(tx, context, ids);
  await tx.personalAccessToken.deleteMany({ where: { id: { in: ids } } });
}

// What was issued for a token names it in its lineage.
const revokeIssuedFor = (
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  ids: readonly string[],
) =>
  tx.revokedToken.createMany({
    data: ids.map((jti) => ({
      jti,
      expiresAt: new Date(clock.now().getTime() + maxAccessTokenTtlSeconds * 1000),
    })),
    skipDuplicates: true,
  });

/** The scopes that bound what is issued for a token; null: all that the user holds. */
export const scopesOf = ({ scope }: Pick<PersonalAccessToken, 'scope'>): string[] | null =>
  scope === null ? null : scope.split(' ').filter((name) => name !== '');
