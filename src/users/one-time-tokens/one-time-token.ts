import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { assertMayBe, assertMayGiveAddress, assertMayLetIn } from '../../auth/granting/may-open.ts';
import { setterScopesOf } from '../../auth/granting/setter-scopes.ts';
import { folded, textForQuery } from '../../db/sql.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { recordEvent } from '../../events/record.ts';
import { type OneTimeToken, Prisma } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { AddressedInput, foldCase, type InputOf, jsonObject } from '../../input.ts';
import { digestOf } from '../../keys/digest.ts';
import { parseAddressed } from '../../messages/senders/non-ascii-addresses.ts';
import type { Context } from '../../services.ts';
import { mailAddress } from '../../text/address.ts';

/** The longest lifetime of a one-time token, in seconds. */
export const maxLifetimeSeconds = 7 * 24 * 60 * 60;

const input = new AddressedInput((emailAddress) =>
  z.object({
    email: emailAddress,
    expiresInSeconds: z
      .number()
      .int()
      .min(1, 'must be at least 1')
      .max(maxLifetimeSeconds, `must be at most ${maxLifetimeSeconds}`)
      .nullish(),
    context: jsonObject.nullish(),
  }),
);

/** The default lifetime of a one-time token, in seconds. */
export const defaultLifetimeSeconds = 600;

/**
 * Creates a token that signs in the owner of an e-mail address once, and verifies that address. Raises
 * `OneTimeToken.Created`.
 *
 * @returns The token's value too, which cannot be read again.
 * @throws {InvalidInputError}; {@link NotAllowedError} when the person who signs in by it holds more than the caller.
 */
export async function createOneTimeToken(
  context: Context,
  given: InputOf<typeof input>,
): Promise<{ oneTimeToken: OneTimeToken; token: string }> {
  const { email, expiresInSeconds, context: data } = await parseAddressed(context, input, given);
  const now = context.clock.now();
  const token = `ott_${randomBytes(32).toString('base64url')}`;
  const oneTimeToken = await transaction(context.database, async (tx) => {
    await assertMaySignInAs(tx, context, email);
    const created = await tx.oneTimeToken.create({
      data: {
        id: newId('OneTimeToken'),
        email,
        digest: digestOf(token),
        context: (data ?? {}) as Prisma.InputJsonObject,
        setterScopes: setterScopesOf(context),
        createdAt: now,
        expiresAt: new Date(now.getTime() + (expiresInSeconds ?? defaultLifetimeSeconds) * 1000),
      },
    });
    const told = await recordEvent(tx, context, 'OneTimeToken.Created', {
      oneTimeTokenId: created.id,
      email,
    });
    return told.with(created);
  });
  return { oneTimeToken, token };
}

/**
 * The token proves its holder to be the owner of the address. So its creator could sign in, or register, as that user.
 */
async function assertMaySignInAs(tx: Transaction, context: Context, email: string): Promise<void> {
  const owners = await tx.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "User" WHERE ${folded(Prisma.sql`"primaryEmail"`)} = ${foldCase(email)}`;
  await assertMayBe(
    tx,
    context,
    owners.map(({ id }) => id),
  );
  await assertMayGiveAddress(tx, context, email);
  await assertMayLetIn(tx, context, owners.length === 0);
}

/** The address that a token is for; null for a token that is unknown, expired or used. Uses nothing up. */
export async function addressOfToken(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  token: string,
): Promise<string | null> {
  const found = await database.prisma.oneTimeToken.findUnique({
    where: { digest: digestOf(token), expiresAt: { gt: clock.now() } },
    select: { email: true },
  });
  return found?.email ?? null;
}

/**
 * Uses a token up; of concurrent requests, one succeeds. Returns null for a token that is unknown, expired, used, or
 * for another address; that does not use it up.
 */
export async function redeemToken(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  { email, token }: { readonly email: string; readonly token: string },
): Promise<OneTimeToken | null> {
  const address = foldCase(mailAddress(email));
  const [redeemed] = await tx.$queryRaw<OneTimeToken[]>`
    DELETE FROM "OneTimeToken"
     WHERE "digest" = ${digestOf(token)}::bytea
       AND ${folded(Prisma.sql`"email"`)} = ${textForQuery(address)}
       AND "expiresAt" > ${clock.now()}::timestamptz
    RETURNING *`;
  return redeemed ?? null;
}
