import { connect, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection, { type SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection';
import type { ResolveHost } from '../../outbound/dns.ts';
import { lookupBy } from '../../outbound/lookup.ts';
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
  /** Whether credentials may go in clear to a server that is not on this machine. */
  readonly allowClear: boolean;
}

/** Sends each message over its own connection: one that hangs delays no other. */
export const smtpSender =
  (settings: SmtpSettings, options: SmtpOptions): Send =>
  async (message, signal) => {
    const socket = await open(settings, options.resolveHost, signal);
    const connection = new SMTPConnection({
      ...securityOf(settings, options, isLocal(socket)),
      connection: socket,
      host: settings.host,
      secure: settings.secure,
    });
    try {
      return await Promise.race([
        endOf(connection, signal),
        converse(connection, settings, options, message),
      ]);
    } catch (error) {
      return resultOf(error);
    } finally {
      connection.close();
      // A polite close waits for the other side; a stop or a deadline must not.
      if (signal.aborted) socket.destroy();
    }
  };

function open(
  { host, port }: SmtpSettings,
  resolveHost: ResolveHost,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ host, port, lookup: lookupBy(resolveHost), autoSelectFamily: true });
    const abort = () => socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', reject);
      resolve(socket);
    });
  });
}

const isLocal = ({ remoteAddress }: Socket): boolean =>
  remoteAddress !== undefined && ipaddr.process(remoteAddress).range() === 'loopback';

/**
 * Credentials need a verified server: TLS with a valid certificate. Without credentials, any certificate is accepted
 * after STARTTLS: whoever could forge it could also hide the STARTTLS offer (RFC 7435 §3).
 */
function securityOf({ secure, username }: SmtpSettings, options: SmtpOptions, local: boolean) {
  const requireTLS = !secure && username !== null && !local && !options.allowClear;
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

async function converse(
  connection: SMTPConnection,
  { username, from }: SmtpSettings,
  { password }: SmtpOptions,
  message: OutgoingMessage,
): Promise<SendResult> {
  await new Promise<void>((resolve, reject) =>
    connection.connect((error) => (error ? reject(error) : resolve())),
  );
  if (username !== null) {
    const credentials = { user: username, pass: password ?? '' };
    await new Promise<void>((resolve, reject) =>
      connection.login(credentials, (error) => (error ? reject(error) : resolve())),
    );
  }
  const mail = mailOf(from, message);
  const content = await mail.build();
  await new Promise<SMTPConnectionSendInfo | undefined>((resolve, reject) =>
    connection.send(mail.getEnvelope(), content, (error, info) =>
      error ? reject(error) : resolve(info),
    ),
  );
  connection.quit();
  return { outcome: 'sent' };
}

function mailOf(
  from: string,
  { id, recipient, language, subject, text, html, createdAt }: OutgoingMessage,
) {
  const domain = from.replace(/^.*@/, '').replace(/[>\s]+$/, '');
  return new MailComposer({
    from,
    to: { name: '', address: recipient },
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

/** Only the server's refusal of this message is final; all other faults are tried again. */
function resultOf(error: unknown): SendResult {
  const { command, response, responseCode, message } = error as Error & {
    readonly command?: string;
    readonly response?: string;
    readonly responseCode?: number;
  };
  const isPermanent = responseCode !== undefined && responseCode >= 500 && responseCode < 600;
  // Codes 5.7 are about who may send, which an administrator can change (RFC 3463 §3.8).
  const isPolicy = /^\d{3}[ -]5\.7\./.test(response ?? '');
  const isOfMessage = command === 'DATA' || (command === 'RCPT TO' && !isPolicy);
  if (isPermanent && isOfMessage) return { outcome: 'refused', error: message };
  throw error;
}
