import type { Transaction } from '../db/transaction.ts';
import type { User } from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';
import type { Context } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { canSend, queueMessage } from './queue-message.ts';
import type { MessageTemplate } from './templates/wording.ts';

/** A notice is worth reading for a day, in seconds. */
export const noticeSeconds = 24 * 60 * 60;

/**
 * Tells a person about a change of their account: at the e-mail address, else at the telephone number.
 *
 * @param notice.language By default that of the settings.
 */
export async function tellPerson(
  tx: Transaction,
  context: Context,
  { primaryEmail, primaryPhone }: Pick<User, 'primaryEmail' | 'primaryPhone'>,
  { template, language }: { template: MessageTemplate; language?: Language | undefined },
): Promise<void> {
  const addresses = [
    { channel: 'EMAIL', recipient: primaryEmail },
    { channel: 'SMS', recipient: primaryPhone },
  ] as const;
  for (const { channel, recipient } of addresses) {
    if (recipient === null || !(await canSend(context, channel, tx))) continue;
    const { defaultLanguage } = await readSignInExperience(tx);
    await queueMessage(tx, context, {
      channel,
      recipient,
      template,
      language: language ?? defaultLanguage,
      expiresAt: new Date(context.clock.now().getTime() + noticeSeconds * 1000),
    });
    return;
  }
}
