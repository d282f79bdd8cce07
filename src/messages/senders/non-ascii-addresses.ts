import type { z } from 'zod';
import type { MessageSender } from '../../generated/prisma/client.ts';
import type { AddressedInput } from '../../input.ts';
import type { Services } from '../../services.ts';
import type { SmtpSettings } from './smtp.ts';

/** What asks the sender of e-mail. */
export type Asker = Pick<Services, 'config' | 'clock' | 'log' | 'database' | 'resolveHost'>;

/**
 * Checks an input with e-mail addresses, and asks the sender of e-mail whether it can send to those whose local part is
 * outside ASCII. Not to be called in a transaction: a mail server may take seconds to answer.
 *
 * @throws {InvalidInputError} with every fault.
 */
export const parseAddressed = <Schema extends z.ZodType>(
  services: Asker,
  schema: AddressedInput<Schema>,
  input: unknown,
): Promise<z.output<Schema>> => addressParser(services)(schema, input);

/** Checks several inputs, each as {@link parseAddressed} does; asks once for all of them. */
export function addressParser(services: Asker) {
  let asked: Promise<string | undefined> | undefined;
  const whyNot = () => {
    asked ??= whyNoNonAsciiAddress(services);
    return asked;
  };
  return <Schema extends z.ZodType>(
    schema: AddressedInput<Schema>,
    input: unknown,
  ): Promise<z.output<Schema>> => schema.parse(input, whyNot);
}

/** Why no address whose local part is outside ASCII can be sent to now; undefined if one can. */
async function whyNoNonAsciiAddress(services: Asker): Promise<string | undefined> {
  const sender = await services.database.prisma.messageSender.findUnique({
    where: { channel: 'EMAIL' },
  });
  if (sender?.kind === 'SMTP') return answerOf(services, sender);
  const hasOutbox = services.config.database.kind === 'embedded';
  return sender || hasOutbox ? undefined : 'there is no sender of e-mail that could send to it';
}

// How long an answer counts. Addresses come from strangers too: they must not make the service call the mail server for
// each of them.
const answerTtlMs = 60_000;
// People wait for the answer.
const timeoutMs = 10_000;

interface KnownAnswer {
  /** The sender that was asked, as it was set then. */
  readonly of: string;
  readonly until: Date;
  readonly answer: Promise<string | undefined>;
}

const answers = new WeakMap<Asker['database'], KnownAnswer>();

/** The mail server's answer of the last minute, else its answer now. */
function answerOf(services: Asker, sender: MessageSender): Promise<string | undefined> {
  const { database, clock } = services;
  const of = JSON.stringify([sender.settings, sender.updatedAt]);
  const now = clock.now();
  const last = answers.get(database);
  const known = last?.of === of ? last : undefined;
  if (known && known.until > now) return known.answer;
  // Its operation checked the settings before it stored them.
  const answer = ask(services, sender.settings as unknown as SmtpSettings, known?.answer);
  answers.set(database, { of, until: new Date(now.getTime() + answerTtlMs), answer });
  return answer;
}

/** @param before Its last answer, which counts while it cannot be asked. */
async function ask(
  { config, log, resolveHost }: Asker,
  settings: SmtpSettings,
  before: Promise<string | undefined> | undefined,
): Promise<string | undefined> {
  const { takesSmtpUtf8 } = await import('./smtp.ts');
  const options = { resolveHost, allowPrivate: config.allowPrivateWebhooks };
  try {
    return (await takesSmtpUtf8(settings, options, AbortSignal.timeout(timeoutMs)))
      ? undefined
      : 'the mail server does not offer SMTPUTF8';
  } catch (err) {
    log.warn({ err }, 'the mail server could not be asked for SMTPUTF8');
    return before ?? 'the mail server does not say now whether it can send to others';
  }
}
