import type { Transaction } from '../../db/transaction.ts';
import { languageOf } from '../../experience/access/visitor.ts';
import type { Address } from '../../experience/codes.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { Language } from '../../languages.ts';
import { noticeSeconds } from '../../messages/notice.ts';
import { canSend, queueMessage } from '../../messages/queue-message.ts';
import type { MessageTemplate } from '../../messages/templates/wording.ts';
import type { ViewerContext } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';

/** How people can be told about a change. Read before the transaction that makes it. */
export interface Notices {
  readonly sendable: ReadonlySet<Address['type']>;
  readonly language: Language;
}

/** Finds out how people can be told about a change. */
export async function prepareNotice(context: ViewerContext): Promise<Notices> {
  const [email, sms] = await Promise.all([canSend(context, 'EMAIL'), canSend(context, 'SMS')]);
  const settings = await readSignInExperience(context.database.prisma);
  const sendable = new Set<Address['type']>();
  if (email) sendable.add('EMAIL');
  if (sms) sendable.add('PHONE');
  return { sendable, language: languageOf(context, settings) };
}

/** A change that a person is told about. */
export interface Notice {
  /** The account before the change. */
  readonly before: User;
  readonly template: MessageTemplate;
  /** The kind of address that is replaced; absent if the addresses stay. */
  readonly replaced?: Address['type'];
}

/**
 * Tells a person about a change of their account, at an address that was there before: the one that is replaced, else
 * the e-mail address, else the telephone number.
 */
export async function queueNotice(
  tx: Transaction,
  context: ViewerContext,
  { sendable, language }: Notices,
  { before, template, replaced }: Notice,
): Promise<void> {
  const held: readonly Address[] = [
    ...(before.primaryEmail === null
      ? []
      : [{ type: 'EMAIL' as const, recipient: before.primaryEmail }]),
    ...(before.primaryPhone === null
      ? []
      : [{ type: 'PHONE' as const, recipient: before.primaryPhone }]),
  ];
  const reachable = held.filter(({ type }) => sendable.has(type));
  const address = reachable.find(({ type }) => type === replaced) ?? reachable[0];
  if (!address) return;
  await queueMessage(tx, context, {
    channel: address.type === 'EMAIL' ? 'EMAIL' : 'SMS',
    recipient: address.recipient,
    template,
    language,
    expiresAt: new Date(context.clock.now().getTime() + noticeSeconds * 1000),
  });
}
