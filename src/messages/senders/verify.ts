import { connect } from 'node:net';
import type { Sealing } from '../../keys/cipher.ts';
import type { Services } from '../../services.ts';
import { openSenderSecret } from '../sealed.ts';
import type { HttpSettings } from './http.ts';
import type { SmtpSettings } from './smtp.ts';

/** Whether a sender can be used. */
export interface VerifiedSender {
  readonly channel: string;
  readonly kind: 'SMTP' | 'HTTP';
  /** Why it cannot be used; undefined if it can. */
  readonly error: unknown;
}

/** Reaches every sender that is set, without sending anything: a mail server is asked to let the user in. */
export async function verifySenders(
  {
    config,
    database,
    cipher,
    resolveHost,
  }: Pick<Services, 'config' | 'database' | 'resolveHost'> & { readonly cipher: Sealing },
  timeoutMs: number,
): Promise<VerifiedSender[]> {
  const rows = await database.prisma.messageSender.findMany({ orderBy: { channel: 'asc' } });
  return Promise.all(
    rows.map(async ({ channel, kind, settings, secret }) => {
      try {
        const password = secret === null ? null : openSenderSecret(cipher, { channel, secret });
        if (kind === 'SMTP') {
          const { verifySmtp } = await import('./smtp.ts');
          await verifySmtp(
            // Its operation checked the settings before it stored them; so below.
            settings as unknown as SmtpSettings,
            { resolveHost, password, allowPrivate: config.allowPrivateWebhooks },
            AbortSignal.timeout(timeoutMs),
          );
        } else await reach(new URL((settings as unknown as HttpSettings).url), timeoutMs);
        return { channel, kind, error: undefined };
      } catch (error) {
        return { channel, kind, error };
      }
    }),
  );
}

function reach({ protocol, hostname, port }: URL, timeoutMs: number): Promise<void> {
  const at = Number(port) || (protocol === 'https:' ? 443 : 80);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: at,
      timeout: timeoutMs,
    });
    socket.once('connect', () => resolve());
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('there was no answer in time')));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.end());
  });
}
