import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import addressparser from 'nodemailer/lib/addressparser';
import { z } from 'zod';
import { assertMayBeAnybody } from '../auth/granting/may-open.ts';
import {
  coversEverything,
  everything,
  type SetterScopes,
  setterScopesOf,
} from '../auth/granting/setter-scopes.ts';
import { lockName } from '../db/lock.ts';
import { untold } from '../db/told.ts';
import { quietTransaction, type Transaction, transaction } from '../db/transaction.ts';
import { type InputIssue, NotAllowedError } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type {
  Message,
  MessageChannel,
  MessageSender,
  MessageSenderKind,
} from '../generated/prisma/client.ts';
import { AddressedInput, asciiEmailAddress, parseInput, phoneNumber, text } from '../input.ts';
import { isWebhookSecret } from '../outbound/signature.ts';
import { faultsOfHost, faultsOfTarget, targetUrl } from '../outbound/target.ts';
import type { Context } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { senderChange } from './payload.ts';
import { canSend, queueMessage, readSenderScopes } from './queue-message.ts';
import { sealSenderSecret } from './sealed.ts';
import type { HttpSettings } from './senders/http.ts';
import { parseAddressed } from './senders/non-ascii-addresses.ts';
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
  return (
    only !== undefined && others.length === 0 && asciiEmailAddress.safeParse(only.address).success
  );
}, 'must be one e-mail address, with or without a name before it: Acme <no-reply@acme.example>');

/** What `setEmailSender` takes of a mail server. */
export const smtp = z
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
 * way too. Raises `MessageSender.Updated` if something changed; a secret that is given counts as changed.
 *
 * @throws {InvalidInputError}; {@link NotAllowedError} when someone who gets codes holds more rights than the caller.
 */
export async function setEmailSender(
  context: Context,
  input: z.input<typeof emailSenderInput>,
): Promise<MessageSender> {
  const parsed = parseInput(emailSenderInput, input, [
    ...(await faultsOfUrl(context, input.http?.url)),
    ...(await faultsOfServer(context, input.smtp?.host)),
  ]);
  return setSender(
    context,
    'EMAIL',
    parsed.smtp ? smtpSender(parsed.smtp) : httpSender(parsed.http),
  );
}

/**
 * Sets how SMS are sent: by HTTP, in place of any earlier sender. Waiting messages are sent that way too. Raises
 * `MessageSender.Updated`.
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

async function faultsOfServer(
  { config, resolveHost }: Pick<Context, 'config' | 'resolveHost'>,
  given: string | undefined,
): Promise<InputIssue[]> {
  const parsed = host.safeParse(given);
  if (!parsed.success) return [];
  const guard = { allowPrivate: config.allowPrivateWebhooks, resolveHost };
  return faultsOfHost(parsed.data, ['smtp', 'host'], guard);
}

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
  const setterScopes = setterScopesOf(context);
  const values = {
    kind,
    settings: { ...settings },
    secret: secret === null ? null : sealSenderSecret(cipher, channel, secret),
    setterScopes,
    updatedAt: now,
  };
  return transaction(database, async (tx) => {
    await lockSender(tx, channel);
    await assertMayBeAnybody(tx, context);
    await forgetCodes(tx, channel, setterScopes);
    const before = await tx.messageSender.findUnique({ where: { channel } });
    const given = { ...values, updatedAt: before?.updatedAt };
    if (before && isDeepStrictEqual({ ...before, ...given }, before)) return untold(before);
    const after = await tx.messageSender.upsert({
      where: { channel },
      create: { channel, ...values, createdAt: now },
      update: values,
    });
    const changes = senderChange(before, after);
    const told = await recordEvent(tx, context, 'MessageSender.Updated', { changes });
    return told.with(after);
  });
}

const lockSender = (tx: Transaction, channel: MessageChannel): Promise<void> =>
  lockName(tx, `signet:message-sender:${channel}`);

/**
 * Voids the valid codes of a channel, unless whoever set the old sender and whoever set the new one both held every
 * right. A code is checked as if the current sender had sent it.
 */
async function forgetCodes(
  tx: Transaction,
  channel: MessageChannel,
  setterScopes: SetterScopes,
): Promise<void> {
  const before = await readSenderScopes(tx, channel);
  if (coversEverything(before) && coversEverything(setterScopes)) return;
  const type = channel === 'EMAIL' ? 'EMAIL' : 'PHONE';
  await tx.verificationCode.deleteMany({ where: { verification: { type } } });
  await tx.viewerCode.updateMany({ where: { type, verifiedAt: null }, data: { codes: [] } });
}

/**
 * Removes a channel's sender. Waiting messages stay queued until there is another sender or they expire. Raises
 * `MessageSender.Updated` if there was one.
 *
 * @returns The removed sender; null if there was none.
 */
export async function removeSender(
  context: Context,
  channel: MessageChannel,
): Promise<MessageSender | null> {
  return transaction(context.database, async (tx) => {
    await lockSender(tx, channel);
    const before = await tx.messageSender.findUnique({ where: { channel } });
    await forgetCodes(tx, channel, everything);
    if (before === null) return untold(null);
    await tx.messageSender.delete({ where: { channel } });
    const changes = senderChange(before, null);
    const told = await recordEvent(tx, context, 'MessageSender.Updated', { changes });
    return told.with(before);
  });
}

const testMessage = new AddressedInput((emailAddress) =>
  z.discriminatedUnion('channel', [
    z.object({ channel: z.literal('EMAIL'), recipient: emailAddress }),
    z.object({ channel: z.literal('SMS'), recipient: phoneNumber }),
  ]),
);

/**
 * Queues a message without a code, to test whether a channel's messages arrive.
 *
 * @throws {InvalidInputError} {@link NotAllowedError} when the channel has no sender.
 */
export async function sendTestMessage(
  context: Context,
  input: { readonly channel: MessageChannel; readonly recipient: string },
): Promise<Message> {
  const { channel, recipient } = await parseAddressed(context, testMessage, input);
  if (!(await canSend(context, channel))) {
    throw new NotAllowedError('The channel has no sender: set one first.');
  }
  const { defaultLanguage } = await readSignInExperience(context.database.prisma);
  return quietTransaction(context.database, async (tx) => {
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
