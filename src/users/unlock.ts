import { z } from 'zod';
import { assertMayBe } from '../auth/granting/may-open.ts';
import { transaction } from '../db/transaction.ts';
import { idForQuery } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { unlock } from '../protection/attempts.ts';
import { type Identifier, normalValue } from '../protection/identifier.ts';
import type { Context } from '../services.ts';
import { type IdentifierType, identifierTypes } from '../sign-in-experience/settings.ts';
import { withoutSpaceAround } from '../text/typed.ts';
import { findUserByIdentifier } from './find.ts';

const input = z.object({
  type: z.enum(identifierTypes),
  value: text(320).overwrite(withoutSpaceAround).min(1, 'must not be empty'),
});

const anyIdentifier = { signInIdentifiers: identifierTypes };

/**
 * Ends the locks of an identifier and forgets its failures, in every kind of check and every browser. The account need
 * not exist. Raises `Identifier.Unlocked` if it was locked.
 *
 * @returns The identifier in the spelling that attempts are counted by.
 * @throws {InvalidInputError}; {@link NotAllowedError} when its owner holds more than the caller.
 */
export async function unlockIdentifier(
  context: Context,
  given: z.input<typeof input>,
): Promise<{ type: IdentifierType; value: string }> {
  const { type, value } = parseInput(input, given);
  const identifier: Identifier = { type: type.toLowerCase() as Identifier['type'], value };
  await transaction(context.database, async (tx) => {
    const owner = await findUserByIdentifier(tx, anyIdentifier, identifier);
    // Guesses at whoever has no identifier count by the id: see `guesses.ts`.
    const id = owner?.id ?? idForQuery(normalValue(identifier), 'User');
    // More guesses make it easier to sign in as the owner.
    await assertMayBe(tx, context, id === null ? [] : [id]);
    return unlock(tx, context, identifier);
  });
  return { type, value: normalValue(identifier) };
}
