import { everything, type SetterScopes } from '../auth/granting/setter-scopes.ts';
import { hintAfterCommit, type Transaction } from '../db/transaction.ts';
import type { MessageChannel } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Context, Services } from '../services.ts';
import { type MessageContent, sealContent } from './sealed.ts';
import type { MessageLanguage } from './templates/catalogue.ts';
import type { MessageTemplate } from './templates/wording.ts';

/** A message to send. */
export interface NewMessage extends MessageContent {
  readonly channel: MessageChannel;
  /** An e-mail address, or for SMS a telephone number in E.164. */
  readonly recipient: string;
  readonly template: MessageTemplate;
  readonly language: MessageLanguage;
  /** When it expires. It is tried again until then, and never sent later. */
  readonly expiresAt: Date;
}

/**
 * Queues a message in the caller's transaction and does nothing else, so it is sent only if the transaction commits.
 * Its code, link and variables are encrypted for this one row, and erased once the message has ended.
 *
 * @returns The message's id.
 */
export async function queueMessage(
  tx: Transaction,
  context: Pick<Context, 'clock' | 'cipher' | 'traceId'>,
  message: NewMessage,
): Promise<string> {
  const { channel, recipient, template, language, expiresAt, ...content } = message;
  const { clock, cipher, traceId } = context;
  const id = newId('Message');
  const now = clock.now();
  await tx.message.create({
    data: {
      id,
      channel,
      recipient,
      template,
      language,
      content: sealContent(cipher, id, content),
      nextAttemptAt: now,
      traceId,
      expiresAt,
      createdAt: now,
    },
    select: { id: true },
  });
  hintAfterCommit(tx, 'queues');
  return id;
}

/**
 * The rights of whoever set a channel's sender, for {@link mayProve}: they could read every code that it sends. The
 * outbox belongs to the operator.
 */
export async function readSenderScopes(
  client: Pick<Transaction, 'messageSender'>,
  channel: MessageChannel,
): Promise<SetterScopes> {
  const sender = await client.messageSender.findUnique({
    where: { channel },
    select: { setterScopes: true },
  });
  return sender?.setterScopes ?? everything;
}

/**
 * Whether messages of a channel can be sent: by a sender, or into the outbox of the embedded set-up. Features that need
 * messages are offered only then.
 *
 * @param client The transaction, inside one.
 */
export async function canSend(
  { config, database }: Pick<Services, 'config' | 'database'>,
  channel: MessageChannel,
  client: Pick<Transaction, 'messageSender'> = database.prisma,
): Promise<boolean> {
  if (config.database.kind === 'embedded') return true;
  const sender = await client.messageSender.findUnique({
    where: { channel },
    select: { channel: true },
  });
  return sender !== null;
}
