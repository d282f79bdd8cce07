import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutgoingMessage, Send } from './sender.ts';

/**
 * The outbox of the embedded set-up: writes each message as a JSON file whose name sorts by time. Codes stand there in
 * clear, for people who try the service, so only the owner may read it.
 */
export function outboxSender(dataDir: string): Send {
  const folder = join(dataDir, 'outbox');
  return async (message) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const name = nameOf(message);
    // Written beside the folder first, so that its readers see only whole files. A message that is sent again replaces
    // its first file.
    const unfinished = join(dataDir, `.${name}`);
    try {
      await writeFile(unfinished, contentOf(message), { mode: 0o600, flush: true });
      await rename(unfinished, join(folder, name));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    return { outcome: 'sent' };
  };
}

const nameOf = ({ id, createdAt }: OutgoingMessage) =>
  `${createdAt.toISOString().replaceAll(/[-:.]/g, '')}-${id}.json`;

function contentOf(message: OutgoingMessage): string {
  const { channel, recipient, template, language, subject, text, html, code, link } = message;
  const content = { channel, recipient, template, language, subject, text, html, code, link };
  return `${JSON.stringify(content, null, 2)}\n`;
}
