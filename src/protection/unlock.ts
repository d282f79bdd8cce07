import { z } from 'zod';
import { parseInput, text } from '../input.ts';
import type { Context } from '../services.ts';
import { type IdentifierType, identifierTypes } from '../sign-in-experience/settings.ts';
import { type Identifier, identifierDigest, normalValue } from './identifier.ts';

const input = z.object({
  type: z.enum(identifierTypes),
  value: text(320).trim().min(1, 'must not be empty'),
});

/**
 * Ends the locks of an identifier and forgets its failures, in every kind of check and every browser. The account need
 * not exist. Raises no event.
 *
 * @returns The identifier in the spelling that attempts are counted by.
 * @throws {InvalidInputError}
 */
export async function unlockIdentifier(
  { database, cipher }: Context,
  given: z.input<typeof input>,
): Promise<{ type: IdentifierType; value: string }> {
  const { type, value } = parseInput(input, given);
  const identifier: Identifier = { type: type.toLowerCase() as Identifier['type'], value };
  await database.prisma.attemptCount.deleteMany({
    where: { identifier: identifierDigest(cipher, identifier) },
  });
  return { type, value: normalValue(identifier) };
}
