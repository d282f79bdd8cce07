import type { Agent } from 'undici';
import type { Claimed, Work } from '../dispatch/work.ts';
import type { Services } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { attemptMessage, type MessageOutcome } from './attempt.ts';
import type { MessageMetrics } from './metrics.ts';
import {
  type ClaimedMessage,
  channels,
  claimMessages,
  nextMessageAt,
  recordSendings,
  releaseMessages,
  renewMessages,
} from './queue.ts';
import { findSenders } from './senders/find.ts';
import type { Send } from './senders/sender.ts';

/** A claimed message with its sender; its line is its channel. */
export interface MessageItem extends Claimed {
  readonly message: ClaimedMessage;
  /** Undefined if the channel has no sender now. */
  readonly send: Send | undefined;
  readonly productName: string;
}

/** The work of a message dispatcher. */
export function messageWork(
  services: Services,
  agent: Agent,
  metrics: MessageMetrics,
): Work<MessageItem, MessageOutcome> {
  const { prisma } = services.database;
  return {
    name: 'messages',
    maxInFlight: channels.length * 10,
    async claim(request) {
      const claimed = await claimMessages(prisma, request);
      if (claimed.length === 0) return { claimed: [], missed: [], isFull: false };
      const [senders, { branding }] = await Promise.all([
        findSenders(services, agent),
        readSignInExperience(prisma),
      ]);
      const items = claimed.map((message) => ({
        id: message.id,
        line: message.channel,
        message,
        send: senders.get(message.channel),
        productName: branding.productName,
      }));
      return { claimed: items, missed: [], isFull: false };
    },
    nextDueAt: () => nextMessageAt(prisma),
    attempt: (item, signal) => attemptMessage(services, item, signal),
    async follow({ message: { channel } }, { outcome }) {
      metrics.attempts.inc({ channel, outcome });
    },
    record: (node, _now, outcomes) =>
      recordSendings(
        prisma,
        node,
        outcomes.map(({ outcome: _, ...sending }) => sending),
      ),
    renew: (node, now, { held }) => renewMessages(prisma, node, now, held),
    release: (node) => releaseMessages(prisma, node),
  };
}
