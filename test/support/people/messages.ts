import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quietTransaction } from '../../../src/db/transaction.ts';
import type { Message } from '../../../src/generated/prisma/client.ts';
import { type NewMessage, queueMessage } from '../../../src/messages/queue-message.ts';
import type { Services } from '../../../src/services.ts';
import { testCall } from '../log.ts';
import { ask, graphql, payload } from '../operations/graphql.ts';
import type { TestService } from '../service.ts';
import { eventually } from '../wait.ts';
import type { Endpoint } from '../webhooks.ts';

/** Queues a message in its own transaction: a sign-in code by default. */
export function queue(
  services: Pick<Services, 'database' | 'clock' | 'cipher'>,
  message: Partial<NewMessage> = {},
): Promise<string> {
  const { database, clock } = services;
  return quietTransaction(database, (tx) =>
    queueMessage(
      tx,
      { ...services, ...testCall },
      {
        channel: 'EMAIL',
        recipient: 'ada@example.com',
        template: 'SIGN_IN',
        language: 'en',
        code: '123456',
        link: 'https://login.example.com/sign-in/link?token=secret-of-the-link',
        expiresAt: new Date(clock.now().getTime() + 600_000),
        ...message,
      },
    ),
  );
}

/** Waits until a message is in a state, and returns its row. */
export function messageUntil(
  { database }: Pick<Services, 'database'>,
  id: string,
  condition: (message: Message) => boolean,
): Promise<Message> {
  return eventually(async () => {
    const message = await database.prisma.message.findUniqueOrThrow({ where: { id } });
    if (condition(message)) return message;
    throw new Error(`The message is not there yet: ${message.status} ${message.error}`);
  });
}

/** The files of the outbox, in the order of their names. */
export async function readOutbox({
  dataDir,
}: Pick<TestService, 'dataDir'>): Promise<Record<string, unknown>[]> {
  const folder = join(dataDir, 'outbox');
  const names = (await readdir(folder).catch(() => [])).sort();
  const files = names.map((name) => readFile(join(folder, name), 'utf8'));
  return (await Promise.all(files)).map((text) => JSON.parse(text) as Record<string, unknown>);
}

/** A recipient's messages in the outbox, oldest first, once all queued ones are sent. */
export function messagesTo(
  { app, dataDir }: Pick<TestService, 'app' | 'dataDir'>,
  recipient: string,
): Promise<Record<string, unknown>[]> {
  const { message } = app.services.database.prisma;
  return eventually(async () => {
    const queued = await message.count({ where: { recipient } });
    const found = (await readOutbox({ dataDir })).filter((one) => one['recipient'] === recipient);
    if (queued > 0 && found.length === queued) return found;
    throw new Error(`Of ${queued} messages to ${recipient} ${found.length} are there.`);
  });
}

/** The code in the last message to a recipient. */
export async function codeTo(
  service: Pick<TestService, 'app' | 'dataDir'>,
  recipient: string,
): Promise<string> {
  const last = (await messagesTo(service, recipient)).at(-1);
  if (typeof last?.['code'] !== 'string') throw new Error(`No code: ${JSON.stringify(last)}`);
  return last['code'];
}

const SetEmailSender = graphql(`
  mutation SetEmailSenderForTest($input: SetEmailSenderInput!) {
    setEmailSender(input: $input) {
      __typename
      ... on SetEmailSenderPayload { messageSender { channel } }
      ... on InvalidInputError { issues { path message } }
    }
  }
`);

/** Makes the service send e-mail to a mail server, on this machine by default. */
export async function useMailServer(
  endpoint: Endpoint,
  {
    host = '127.0.0.1',
    port,
    secure,
    username,
    password,
  }: { host?: string; port: number; secure?: boolean; username?: string; password?: string },
): Promise<void> {
  const { setEmailSender } = await ask(endpoint, SetEmailSender, {
    input: {
      smtp: {
        host,
        from: 'Acme <no-reply@acme.example>',
        port,
        secure,
        username,
        password,
      },
    },
  });
  payload(setEmailSender, 'SetEmailSenderPayload');
}

const SetSmsSender = graphql(`
  mutation SetSmsSenderForTest($input: SetSmsSenderInput!) {
    setSmsSender(input: $input) {
      __typename
      ... on SetSmsSenderPayload { messageSender { channel } }
      ... on InvalidInputError { issues { path message } }
    }
  }
`);

/** Makes the service post SMS to a URL. */
export async function useSmsSender(
  endpoint: Endpoint,
  http: { url: string; secret: string },
): Promise<void> {
  const { setSmsSender } = await ask(endpoint, SetSmsSender, { input: { http } });
  payload(setSmsSender, 'SetSmsSenderPayload');
}
