import type { Transaction } from '../db/transaction.ts';
import type { MessageChannel, User } from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';
import type { Context } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { canSend, queueMessage } from './queue-message.ts';
import type { MessageTemplate } from './templates/wording.ts';

/** A notice expires after a day. */
const noticeSeconds = 24 * 60 * 60;

/** A notice to a person. */
export interface PersonNotice {
  readonly template: MessageTemplate;
  readonly language?: Language | undefined;
  readonly first?: MessageChannel | undefined;
}

/**
 * Notifies a person of a change to their account, by e-mail or by SMS.
 *
 * @param notice.language By default that of the settings.
 * @param notice.first The channel to prefer; by default e-mail.
 */
export async function tellPerson(
  tx: Transaction,
  context: Context,
  { primaryEmail, primaryPhone }: Pick<User, 'primaryEmail' | 'primaryPhone'>,
  { template, language, first = 'EMAIL' }: PersonNotice,
): Promise<void> {
  const recipients = { EMAIL: primaryEmail, SMS: primaryPhone };
  for (const channel of new Set<MessageChannel>([first, 'EMAIL', 'SMS'])) {
    const recipient = recipients[channel];
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
