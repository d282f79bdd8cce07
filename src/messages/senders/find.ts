import type { Agent } from 'undici';
import { mayCarry } from '../../auth/granting/prove.ts';
import type { MessageChannel, MessageSender } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';
import { openSenderSecret } from '../sealed.ts';
import { type HttpSettings, httpSender } from './http.ts';
import { outboxSender } from './outbox.ts';
import type { Send } from './sender.ts';
import type { SmtpSettings } from './smtp.ts';

/**
 * Finds the sender of each channel: the one that is set, else the outbox of the embedded set-up. A channel with neither
 * is missing.
 */
export async function findSenders(
  services: Services,
  agent: Agent,
): Promise<ReadonlyMap<MessageChannel, Send>> {
  const { config, database } = services;
  const senders = new Map<MessageChannel, Send>();
  if (config.database.kind === 'embedded') {
    const outbox = outboxSender(config.database.dataDir);
    senders.set('EMAIL', outbox).set('SMS', outbox);
  }
  for (const row of await database.prisma.messageSender.findMany()) {
    // Created at the attempt, so that a sender that cannot be created fails only its own messages.
    senders.set(row.channel, async (message, signal) => {
      if (!(await mayCarry(database.prisma, row.setterScopes, message))) {
        return {
          outcome: 'refused',
          error: 'whoever set the sender holds less than the recipient',
        };
      }
      const send = await senderOf(services, agent, row);
      return send(message, signal);
    });
  }
  return senders;
}

async function senderOf(
  { config, clock, cipher, resolveHost }: Services,
  agent: Agent,
  { channel, kind, settings, secret }: MessageSender,
): Promise<Send> {
  const opened = secret === null ? null : openSenderSecret(cipher, { channel, secret });
  // Only the operations of this folder write these values, and they have checked them.
  switch (kind) {
    case 'SMTP': {
      // Loaded with the first message, because many use another sender or none.
      const { smtpSender } = await import('./smtp.ts');
      // Its operation checked the settings before it stored them; so below.
      return smtpSender(settings as unknown as SmtpSettings, {
        resolveHost,
        password: opened,
        allowPrivate: config.allowPrivateWebhooks,
      });
    }
    case 'HTTP':
      return httpSender(settings as unknown as HttpSettings, {
        agent,
        clock,
        secret: opened ?? '',
        timeoutMs: config.webhookTimeoutMs,
      });
  }
}
