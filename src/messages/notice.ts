import type { Transaction } from '../db/transaction.ts';
import type { MessageChannel, User } from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';
import type { Context } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { canSend, queueMessage } from './queue-message.ts';
import type { MessageTemplate } from './templates/wording.ts';

/** A notice is worth reading for a day. */
const noticeSeconds = 24 * 60 * 60;

/** A change that a person is told about. */
export interface Notice {
  /** The account before the change. */
  readonly before: Pick<User, 'primaryEmail' | 'primaryPhone'>;
  readonly template: MessageTemplate;
  /** The person's language; by default that of the settings. */
  readonly language: Language | undefined;
  /** The channel whose address is replaced; absent if the addresses stay. */
  readonly replaced?: MessageChannel;
}

/**
 * Tells a person about a change of their account, at an address that was there before: the one that is replaced, else
 * the e-mail address, else the telephone number. Tells nothing where no message can be sent.
 */
export async function queueNotice(
  tx: Transaction,
  context: Pick<Context, 'config' | 'database' | 'clock' | 'cipher' | 'traceId'>,
  { before, template, language, replaced }: Notice,
): Promise<void> {
  const addresses = [
    { channel: 'EMAIL', recipient: before.primaryEmail },
    { channel: 'SMS', recipient: before.primaryPhone },
  ] as const;
  const ordered = replaced === 'SMS' ? addresses.toReversed() : addresses;
  for (const { channel, recipient } of ordered) {
    if (recipient === null || !(await canSend(context, channel, tx))) continue;
    await queueMessage(tx, context, {
      channel,
      recipient,
      template,
      language: language ?? (await readSignInExperience(tx)).defaultLanguage,
      expiresAt: new Date(context.clock.now().getTime() + noticeSeconds * 1000),
    });
    return;
  }
}
