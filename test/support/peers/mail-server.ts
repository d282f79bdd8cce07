import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { eventually } from '../wait.ts';
import { selfSigned } from './self-signed.ts';

/** A mail as it arrived. */
interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
  readonly raw: string;
  readonly mail: Email;
}

/** The server's answer to a mail: an error with a reply code; nothing means accepted. */
type Verdict = (mail: ReceivedMail) => Error | undefined | Promise<Error | undefined>;

/** A mail server on this machine. */
export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Sets its answer to later mails. */
  answerWith(verdict: Verdict): void;
  /** Waits until this many mails have arrived in total. */
  arrived(count: number): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

/** Starts a mail server, and keeps what it is told in SMTP: it decodes the domains of the envelopes that it gives. */
export async function startTalkingServer(options: SMTPServerOptions = {}) {
  const commands: string[] = [];
  const ignored = () => undefined;
  const server = await startMailServer({
    logger: {
      ...{ level: ignored, trace: ignored, info: ignored },
      ...{ warn: ignored, error: ignored, fatal: ignored },
      debug: (_of: unknown, side: string, line: string) => side === 'C:' && commands.push(line),
    },
    ...options,
  });
  return { ...server, commands };
}

/** A reply that refuses a mail. */
export const reply = (responseCode: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode });

/** Starts a mail server, which stops with the test. */
export async function startMailServer(
  options: SMTPServerOptions = {},
  port = 0,
): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let verdict: Verdict = () => undefined;
  const server = new SMTPServer({
    ...selfSigned,
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    ...options,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        const { mailFrom, rcptTo } = session.envelope;
        const mail: ReceivedMail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: session.user as string | undefined,
          isEncrypted: session.secure,
          raw,
          mail: await PostalMime.parse(raw),
        };
        received.push(mail);
        done(await verdict(mail));
      });
    },
  });
  // The other side reports a connection that was cut off, or a certificate that it refuses.
  server.on('error', () => undefined);
  const listener = server.listen(port, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise<void>((resolve) => server.close(() => resolve()));
    return closing;
  };
  onTestFinished(close);
  return {
    port: (listener.address() as AddressInfo).port,
    received,
    answerWith(next) {
      verdict = next;
    },
    arrived: (count) =>
      eventually(() => {
        if (received.length >= count) return received;
        throw new Error(`${received.length} of ${count} mails have arrived.`);
      }),
    close,
  };
}
