import { connect, isIP, type Socket } from 'node:net';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection, { type SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection';
import { resolvePublic } from '../../outbound/address.ts';
import { explainFault } from '../../outbound/attempt.ts';
import type { ResolveHost } from '../../outbound/dns.ts';
import { lookupBy } from '../../outbound/lookup.ts';
import { asciiAddress, asciiDomain, needsSmtpUtf8 } from '../../text/address.ts';
import type { OutgoingMessage, Send, SendResult } from './sender.ts';

/** A mail server, and the sender address of messages. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  readonly secure: boolean;
  readonly username: string | null;
  /** An address, with or without a name: `Acme <no-reply@acme.example>`. */
  readonly from: string;
}

interface SmtpOptions {
  readonly resolveHost: ResolveHost;
  /** The password of the user name. */
  readonly password: string | null;
  /** Whether private addresses and unencrypted credentials are allowed. */
  readonly allowPrivate: boolean;
}

/** Sends each message over its own connection: one that hangs delays no other. */
export const smtpSender =
  (settings: SmtpSettings, options: SmtpOptions): Send =>
  (message, signal) =>
    atServer(settings, options, signal, (connection) =>
      converse(connection, settings, options, message),
    ).catch(resultOf);

/**
 * Connects to a mail server and logs in, as for a message, and sends none.
 *
 * @throws why it does not work.
 */
export const verifySmtp = (
  settings: SmtpSettings,
  options: SmtpOptions,
  signal: AbortSignal,
): Promise<void> =>
  atServer(settings, options, signal, (connection) => logIn(connection, settings, options));

/**
 * Asks a mail server whether it takes mail to addresses that need SMTPUTF8 (RFC 6531 §3.1). Needs no password.
 *
 * @throws why it cannot be asked.
 */
export const takesSmtpUtf8 = (
  settings: SmtpSettings,
  options: Omit<SmtpOptions, 'password'>,
  signal: AbortSignal,
): Promise<boolean> =>
  atServer(settings, options, signal, async (connection) => {
    await greet(connection);
    return offersSmtpUtf8(connection);
  });

/** Talks to a mail server over a connection of its own. Rejects when it ends too early. */
async function atServer<T>(
  settings: SmtpSettings,
  options: Omit<SmtpOptions, 'password'>,
  signal: AbortSignal,
  talk: (connection: SMTPConnection) => Promise<T>,
): Promise<T> {
  const socket = await open(settings, options, signal);
  const connection = new SMTPConnection({
    ...securityOf(settings, options),
    connection: socket,
    host: settings.host,
    secure: settings.secure,
  });
  try {
    return await Promise.race([endOf(connection, signal), talk(connection)]);
  } catch (error) {
    // The library's own close waits for the other side, which may go on sending for seconds.
    socket.destroy();
    throw error;
  } finally {
    connection.close();
  }
}

/** Connects to an address that was checked in the same step, so a name that resolves differently later gains nothing. */
async function open(
  { host, port }: SmtpSettings,
  { resolveHost, allowPrivate }: Omit<SmtpOptions, 'password'>,
  signal: AbortSignal,
): Promise<Socket> {
  const resolve = allowPrivate ? resolveHost : resolvePublic.bind(undefined, resolveHost);
  // A literal address is never looked up.
  if (isIP(host) !== 0 && !allowPrivate) await resolvePublic(resolveHost, host);
  signal.throwIfAborted();
  return new Promise((opened, reject) => {
    const socket = connect({ host, port, lookup: lookupBy(resolve), autoSelectFamily: true });
    const abort = () => socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', reject);
      opened(socket);
    });
  });
}

/**
 * Credentials need a verified server: TLS with a valid certificate. Without credentials, any certificate is accepted
 * after STARTTLS: whoever could forge it could also hide the STARTTLS offer (RFC 7435 §3).
 */
function securityOf(
  { secure, username }: SmtpSettings,
  { allowPrivate }: Pick<SmtpOptions, 'allowPrivate'>,
) {
  const requireTLS = !secure && username !== null && !allowPrivate;
  return { requireTLS, tls: { rejectUnauthorized: secure || requireTLS } };
}

/** Rejects when the connection ends too early. */
const endOf = (connection: SMTPConnection, signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    // Stays as long as the connection: an error event without a listener would end the process.
    connection.on('error', reject);
    connection.once('end', () => reject(new Error('the server closed the connection')));
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

const greet = (connection: SMTPConnection): Promise<void> =>
  new Promise((resolve, reject) =>
    connection.connect((error) => (error ? reject(error) : resolve())),
  );

/** Whether the server's answer to EHLO names the extension. */
const offersSmtpUtf8 = (connection: SMTPConnection): boolean =>
  // The library shows the answer after a message only, and sends one to any address without the extension too.
  (
    connection as unknown as { readonly _supportedExtensions: readonly string[] }
  )._supportedExtensions.includes('SMTPUTF8');

async function logIn(
  connection: SMTPConnection,
  { username }: SmtpSettings,
  { password }: SmtpOptions,
): Promise<void> {
  await greet(connection);
  if (username !== null) {
    const credentials = { user: username, pass: password ?? '' };
    await new Promise<void>((resolve, reject) =>
      connection.login(credentials, (error) => (error ? reject(error) : resolve())),
    );
  }
}

async function converse(
  connection: SMTPConnection,
  settings: SmtpSettings,
  options: SmtpOptions,
  message: OutgoingMessage,
): Promise<SendResult> {
  await logIn(connection, settings, options);
  const isNonAscii = needsSmtpUtf8(message.recipient);
  if (isNonAscii && !offersSmtpUtf8(connection)) {
    connection.quit();
    return { outcome: 'refused', error: 'the mail server does not offer SMTPUTF8' };
  }
  const mail = mailOf(settings.from, message);
  const content = await mail.build();
  const envelope = mail.getEnvelope();
  // Of such an address the library would write the domain in Unicode, which relays need not know.
  if (isNonAscii) envelope.to = [asciiAddress(message.recipient)];
  await new Promise<SMTPConnectionSendInfo | undefined>((resolve, reject) =>
    connection.send(envelope, content, (error, info) => (error ? reject(error) : resolve(info))),
  );
  connection.quit();
  return { outcome: 'sent' };
}

function mailOf(
  sender: string,
  { id, recipient, language, subject, text, html, createdAt }: OutgoingMessage,
) {
  const [, start = '', typed = '', end = ''] = /^(.*@)(.*?)([>\s]*)$/s.exec(sender) ?? [];
  const domain = asciiDomain(typed);
  return new MailComposer({
    from: start + domain + end,
    to: { name: '', address: asciiAddress(recipient) },
    subject: subject ?? '',
    text,
    html: html ?? '',
    messageId: `<${id}@${domain}>`,
    date: createdAt,
    headers: {
      'Content-Language': language,
      // Keeps automatic replies away (RFC 3834 §5).
      'Auto-Submitted': 'auto-generated',
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
}

/**
 * The result of a failed attempt, in this service's own words. With the server's words, whoever sets the sender could
 * read what any port answers. Only the server's refusal of this message is final; all other faults are tried again.
 */
function resultOf(error: unknown): SendResult {
  const { command, response, responseCode } = error as Error & {
    readonly command?: string;
    readonly response?: string;
    readonly responseCode?: number;
  };
  if (responseCode === undefined) return { outcome: 'failed', error: faultOf(error) };
  const isPermanent = responseCode >= 500 && responseCode < 600;
  // Codes 5.7 are about who may send, which an administrator can change (RFC 3463 §3.8).
  const isPolicy = /^\d{3}[ -]5\.7\./.test(response ?? '');
  // 5.6.7 is about the addresses of this message, whatever it answers (RFC 6531 §3.5).
  const isOfAddress = /^\d{3}[ -]5\.6\.7\b/.test(response ?? '');
  const isOfMessage = isOfAddress || command === 'DATA' || (command === 'RCPT TO' && !isPolicy);
  const said = `the mail server answered ${responseCode}${phases[command ?? ''] ?? ''}`;
  return { outcome: isPermanent && isOfMessage ? 'refused' : 'failed', error: said };
}

// What the library calls the step that failed.
const phases: Record<string, string> = {
  CONN: ' to the connection',
  EHLO: ' to EHLO',
  HELO: ' to HELO',
  STARTTLS: ' to STARTTLS',
  AUTH: ' to the credentials',
  'AUTH PLAIN': ' to the credentials',
  'AUTH LOGIN': ' to the credentials',
  'MAIL FROM': ' to the sender',
  'RCPT TO': ' to the recipient',
  DATA: ' to the message',
};

// Codes of the library (ECONNECTION, EPROTOCOL …) that say more than its text may.
const libraryFaults: Record<string, string> = {
  EAUTH: 'the credentials could not be used',
  EENVELOPE: 'the sender or the recipient could not be used',
  EPROTOCOL: 'the answer is not SMTP',
  ETIMEDOUT: 'no answer in time',
  // It replaces the code of the socket or of TLS by this one.
  ESOCKET: 'the connection failed, or the certificate is refused',
  ETLS: 'TLS could not be started',
};

function faultOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return libraryFaults[code ?? ''] ?? explainFault(error).reason;
}
