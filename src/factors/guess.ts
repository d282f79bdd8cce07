import type { User } from '../generated/prisma/client.ts';
import type { Guess } from '../protection/attempts.ts';

/**
 * A guess at a person's second factor. All guesses at one person count together, whichever identifier was used to sign
 * in; `Identifier.Lockout` names the user name, else the e-mail address, else the telephone number.
 *
 * @param device The id of the device cookie, if this person signed in before in this browser.
 */
export function factorGuess(
  { username, primaryEmail, primaryPhone, id }: User,
  device: string | undefined,
): Guess {
  if (username !== null) return { type: 'username', value: username, check: 'factor', device };
  if (primaryEmail !== null) return { type: 'email', value: primaryEmail, check: 'factor', device };
  // Nobody signs in without an identifier; after its removal, the id still separates people.
  return { type: 'phone', value: primaryPhone ?? id, check: 'factor', device };
}
