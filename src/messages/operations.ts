import { isIP } from 'node:net';
import addressparser from 'nodemailer/lib/addressparser';
import { z } from 'zod';
import { assertMayProveWho } from '../auth/granting.ts';
import { transaction } from '../db/transaction.ts';
import { type InputIssue, NotAllowedError } from '../errors.ts';
import type {
  Message,
  MessageChannel,
  MessageSender,
  MessageSenderKind,
} from '../generated/prisma/client.ts';
import { emailAddress, parseInput, phoneNumber, text } from '../input.ts';
import { isWebhookSecret } from '../outbound/signature.ts';
import { faultsOfTarget, targetUrl } from '../outbound/target.ts';
import type { Context } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { canSend, queueMessage } from './queue-message.ts';
import { sealSenderSecret } from './sealed.ts';
import type { HttpSettings } from './senders/http.ts';
import type { SmtpSettings } from './senders/smtp.ts';

const testTtlMs = 10 * 60 * 1000;

const line = (max: number) => text(max).regex(/^\P{Cc}*$/u, 'must not hold control characters');

const host = line(253)
  .trim()
  .refine(
    (value) => isIP(value) !== 0 || /^(?=.)[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*\.?$/u.test(value),
    'must be a host name or an IP address',
  );

const mailbox = line(512).refine((value) => {
  const [only, ...others] = addressparser(value, { flatten: true });
  return only !== undefined && others.length === 0 && emailAddress.safeParse(only.address).success;
}, 'must be one e-mail address, with or without a name before it: Acme <no-reply@acme.example>');

const smtp = z
  .object({
    host,
    port: z
      .number()
      .int()
      .min(1, 'must be from 1 to 65535')
      .max(65_535, 'must be from 1 to 65535')
      .nullish(),
    secure: z.boolean().nullish(),
    username: line(256).min(1, 'must not be empty').nullish(),
    password: text(1024).min(1, 'must not be empty').nullish(),
    from: mailbox,
  })
  .superRefine(({ username, password }, context) => {
    if (username != null && password == null) {
      context.addIssue({ code: 'custom', path: ['password'], message: 'belongs to a username' });
    }
    if (password != null && username == null) {
      context.addIssue({ code: 'custom', path: ['username'], message: 'belongs to a password' });
    }
  });

const http = z.object({
  url: targetUrl,
  secret: text(256).refine(
    isWebhookSecret,
    'must be whsec_ and the base64 of 24 to 64 bytes (Standard Webhooks)',
  ),
});

const emailSenderInput = z
  .object({ smtp: smtp.nullish(), http: http.nullish() })
  .superRefine((input, context) => {
    if ((input.smtp == null) !== (input.http == null)) return;
    const message = 'give either smtp or http, and not both';
    context.addIssue({ code: 'custom', path: ['smtp'], message });
  });

const smsSenderInput = z.object({ http });

/** A sender to store. */
interface NewSender {
  readonly kind: MessageSenderKind;
  readonly settings: SmtpSettings | HttpSettings;
  readonly secret: string | null;
}

/**
 * Sets how e-mail is sent: by a mail server or by HTTP, in place of any earlier sender. Waiting messages are sent that
 * way too.
 *
 * @throws {InvalidInputError}; {@link NotAllowedError} when someone who gets codes holds more rights than the caller.
 */
export async function setEmailSender(
  context: Context,
  input: z.input<typeof emailSenderInput>,
): Promise<MessageSender> {
  const parsed = parseInput(emailSenderInput, input, await faultsOfUrl(context, input.http?.url));
  return setSender(
    context,
    'EMAIL',
    parsed.smtp ? smtpSender(parsed.smtp) : httpSender(parsed.http),
  );
}

/**
 * Sets how SMS are sent: by HTTP, in place of any earlier sender. Waiting messages are sent that way too.
 *
 * @throws {InvalidInputError}
 */
export async function setSmsSender(
  context: Context,
  input: z.input<typeof smsSenderInput>,
): Promise<MessageSender> {
  const parsed = parseInput(smsSenderInput, input, await faultsOfUrl(context, input.http.url));
  return setSender(context, 'SMS', httpSender(parsed.http));
}

const faultsOfUrl = (
  { config, resolveHost }: Pick<Context, 'config' | 'resolveHost'>,
  url: string | undefined,
): Promise<InputIssue[]> =>
  faultsOfTarget(url, ['http', 'url'], { allowPrivate: config.allowPrivateWebhooks, resolveHost });

function smtpSender(input: z.output<typeof smtp>): NewSender {
  const { host, secure, username, password, from } = input;
  const isSecure = secure ?? input.port === 465;
  const port = input.port ?? (isSecure ? 465 : 587);
  const settings = { host, port, secure: isSecure, username: username ?? null, from };
  return { kind: 'SMTP', settings, secret: password ?? null };
}

function httpSender(input: z.output<typeof http> | null | undefined): NewSender {
  if (!input) throw new Error('The input was checked to have one of the two.');
  return { kind: 'HTTP', settings: { url: input.url }, secret: input.secret };
}

async function setSender(
  context: Context,
  channel: MessageChannel,
  { kind, settings, secret }: NewSender,
): Promise<MessageSender> {
  const { database, clock, cipher } = context;
  const now = clock.now();
  const values = {
    kind,
    settings: { ...settings },
    secret: secret === null ? null : sealSenderSecret(cipher, channel, secret),
    updatedAt: now,
  };
  return transaction(database, async (tx) => {
    await assertMayProveWho(tx, context);
    return tx.messageSender.upsert({
      where: { channel },
      create: { channel, ...values, createdAt: now },
      update: values,
    });
  });
}

/**
 * Removes a channel's sender. Waiting messages stay queued until there is another sender or they expire.
 *
 * @returns The removed sender; null if there was none.
 */
export async function removeSender(
  { database }: Pick<Context, 'database'>,
  channel: MessageChannel,
): Promise<MessageSender | null> {
  return transaction(database, async (tx) => {
    const before = await tx.messageSender.findUnique({ where: { channel } });
    if (before) await tx.messageSender.deleteMany({ where: { channel } });
    return before;
  });
}

const recipients = { EMAIL: emailAddress, SMS: phoneNumber };

/**
 * Queues a message without a code, to test whether a channel's messages arrive.
 *
 * @throws {InvalidInputError} {@link NotAllowedError} when the channel has no sender.
 */
export async function sendTestMessage(
  context: Context,
  { channel, recipient }: { readonly channel: MessageChannel; readonly recipient: string },
): Promise<Message> {
  parseInput(z.object({ recipient: recipients[channel] }), { recipient });
  if (!(await canSend(context, channel))) {
    throw new NotAllowedError('The channel has no sender: set one first.');
  }
  const { defaultLanguage } = await readSignInExperience(context.database.prisma);
  return transaction(context.database, async (tx) => {
    const id = await queueMessage(tx, context, {
      channel,
      recipient,
      template: 'TEST',
      language: defaultLanguage,
      expiresAt: new Date(context.clock.now().getTime() + testTtlMs),
    });
    return tx.message.findUniqueOrThrow({ where: { id } });
  });
}
