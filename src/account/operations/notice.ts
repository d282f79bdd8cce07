import type { Transaction } from '../../db/transaction.ts';
import type { User } from '../../generated/prisma/client.ts';
import { type PersonNotice, tellPerson } from '../../messages/notice.ts';
import type { ViewerContext } from '../../services.ts';
import { languageOf } from '../../sign-in-experience/language.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';

/**
 * Tells a person about a change of their account in the language of their request.
 *
 * @param before The account before the change: the notice goes to an address that was there.
 */
export async function tellViewer(
  tx: Transaction,
  context: ViewerContext,
  before: User,
  notice: Omit<PersonNotice, 'language'>,
): Promise<void> {
  const language = languageOf(context, await readSignInExperience(tx));
  await tellPerson(tx, context, before, { ...notice, language });
}
