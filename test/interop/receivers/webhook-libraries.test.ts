import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readPage } from '../../../scripts/documents/blocks.ts';
import { generateWebhookSecret } from '../../../src/outbound/signature.ts';
import { freePort } from '../../support/peers/free-port.ts';
import { eventually } from '../../support/wait.ts';
import { areInstalled, pathOf, startProgram, versionOf } from '../example-process.ts';
import { forgedMessages, type Message, signedMessage, unusualMessages } from './forged-messages.ts';
import { receivers } from './receiver-process.ts';

const load = createRequire(pathOf('receivers/package.json'));
const page = readPage('docs/receiving-webhooks.md');
const hasWebhook = receivers.some(({ needs, isInstalled }) => needs === 'webhook' && isInstalled);

const secret = generateWebhookSecret();
const now = () => Math.floor(Date.now() / 1000);

interface Verifier {
  verify(body: unknown, headers: unknown): unknown;
}

/** The cells of a library in the table of the page, as the library answers. */
function cellsOf(name: string): string[] {
  const { Webhook } = load(name) as { Webhook: new (secret: string) => Verifier };
  const verifier = new Webhook(secret);
  const isTaken = (
    { headers, body }: Message,
    bodyAs: (body: Buffer) => unknown = (bytes) => bytes,
    headersAs: (headers: Message['headers']) => unknown = (names) => names,
  ) => {
    try {
      verifier.verify(bodyAs(body), headersAs(headers));
      return true;
    } catch {
      return false;
    }
  };
  const good = () => signedMessage(secret, 'Alice');
  const sent = (timestamp: number) => isTaken(signedMessage(secret, 'Alice', { timestamp }));
  const areAll = (messages: Record<string, Message>, taken: boolean) =>
    Object.values(messages).every((message) => isTaken(message) === taken);
  const yes = (isSo: boolean) => (isSo ? 'yes' : 'you');

  const bodies = [
    ['text', isTaken(good(), String)],
    ['`Buffer`', isTaken(good())],
    ['`Uint8Array`', isTaken(good(), (body) => new Uint8Array(body))],
    ['an object', isTaken(good(), (body) => JSON.parse(String(body)))],
  ] as const;
  const { headers, body } = good();
  let atStart = 'taken';
  try {
    new Webhook(`${secret}\n`);
  } catch {
    atStart = 'an error at the start';
  }
  return [
    `\`${name}\` ${versionOf('receivers', name)}`,
    yes(areAll(forgedMessages(secret, 'Mallory'), false)),
    yes(sent(now() - 290) && sent(now() + 290) && !sent(now() - 310) && !sent(now() + 310)),
    yes(areAll(unusualMessages(secret, 'Alice'), true)),
    bodies.flatMap(([form, isForm]) => (isForm ? [form] : [])).join(' or '),
    isTaken(good(), undefined, (names) => new Headers(names)) ? '`Headers`' : 'a plain object',
    verifier.verify(body, headers) === undefined ? 'nothing' : 'the event',
    atStart,
  ];
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;

describe.skipIf(!areInstalled('receivers'))(
  'docs/receiving-webhooks.md says what a library does',
  () => {
    test.for(['standardwebhooks', 'svix'])('%s', (name) => {
      expect(page).toContain(row(cellsOf(name)));
    });

    /** The longest body that a framework takes by default, of some sizes. */
    async function longest(url: string): Promise<string> {
      const sizes = { 'no limit': 2 ** 21, '1 MiB': 2 ** 20, '100 KiB': 100 * 1024 };
      for (const [name, size] of Object.entries(sizes)) {
        const isTaken = async (length: number) => {
          const headers = { 'content-type': 'application/json' };
          const body = JSON.stringify('x'.repeat(length - 2));
          const response = await fetch(url, { method: 'POST', headers, body }).catch(
            () => undefined,
          );
          return response?.status === 200;
        };
        const isLongest = name === 'no limit' || !(await isTaken(size + 1));
        if (isLongest && (await isTaken(size))) return name;
      }
      throw new Error('It takes less.');
    }

    const servers: Record<string, () => Promise<{ url: string; close: () => unknown }>> = {
      async express() {
        const express = load('express');
        const app = express();
        app.post('/', express.raw({ type: 'application/json' }), (_: unknown, response: unknown) =>
          (response as { sendStatus(status: number): void }).sendStatus(200),
        );
        const server = app.listen(0, 'localhost');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        return { url: `http://localhost:${port}/`, close: () => server.close() };
      },
      async fastify() {
        const app = load('fastify')();
        app.addContentTypeParser(
          'application/json',
          { parseAs: 'buffer' },
          async (_: unknown, body: Buffer) => body,
        );
        app.post('/', async () => '');
        return { url: await app.listen({ port: 0, host: 'localhost' }), close: () => app.close() };
      },
      async hono() {
        const { Hono } = load('hono');
        const { serve } = load('@hono/node-server');
        const app = new Hono();
        app.post('/', async (c: { req: Request; text(text: string): Response }) =>
          c.text(String((await c.req.text()).length)),
        );
        const server = serve({ fetch: app.fetch, port: 0, hostname: 'localhost' });
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        return { url: `http://localhost:${port}/`, close: () => server.close() };
      },
    };

    test.for(Object.entries(servers))('%s', async ([name, start]) => {
      const { url, close } = await start();
      onTestFinished(async () => void (await close()));
      expect(page).toContain(
        `| \`${name}\` ${versionOf('receivers', name)} | ${await longest(url)} | `,
      );
    });
  },
);

describe.skipIf(!hasWebhook)('docs/receiving-webhooks.md says what `webhook` does', () => {
  /** Starts it with a hook, and returns what it answers. */
  async function startWebhook(hook: object) {
    const folder = await mkdtemp(join(tmpdir(), 'signet-webhook-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const hooks = join(folder, 'hooks.json');
    await writeFile(
      hooks,
      JSON.stringify([{ id: 'tried', 'include-command-output-in-response': true, ...hook }]),
    );
    const port = String(await freePort());
    const command = ['webhook', '-ip', 'localhost', '-port', port, '-hooks', hooks] as const;
    const { ended, complaints } = startProgram(command, {}, folder);
    const listening = eventually(async () => (await fetch(`http://localhost:${port}/`)).ok);
    if ((await Promise.race([ended, listening])) !== true) throw new Error(complaints());
    return async ({ headers, body }: Message) => {
      const url = `http://localhost:${port}/hooks/tried`;
      const sent = { method: 'POST', headers, body: new Uint8Array(body) };
      const answer = await fetch(url, sent);
      return { status: answer.status, text: await answer.text() };
    };
  }

  test('its own rules know no signature of Standard Webhooks', async () => {
    // Its file cannot hold other bytes.
    const key = 'a key that is text and long enough';
    const ask = await startWebhook({
      'execute-command': '/bin/true',
      'trigger-rule': {
        match: {
          type: 'payload-hmac-sha256',
          secret: key,
          parameter: { source: 'header', name: 'Webhook-Signature' },
        },
      },
    });
    const message = signedMessage(Buffer.from(key).toString('base64'), 'Alice');
    const ofBody = createHmac('sha256', key).update(message.body).digest('hex');
    const headers = { ...message.headers, 'webhook-signature': `sha256=${ofBody}` };
    expect(await ask({ ...message, headers })).toMatchObject({ status: 200 });
    expect(await ask(message)).toMatchObject({ status: 500 });
    expect(page).toContain('| `webhook` 2.8.0, its rules | never | never | never |');
  });

  test('it takes a message whose command fails, unless it waits for the command', async () => {
    const waits = 'include-command-output-in-response';
    const failing = { 'execute-command': '/bin/false' };
    const hasty = await startWebhook({ ...failing, [waits]: false });
    expect(await hasty(signedMessage(secret, 'Alice'))).toMatchObject({ status: 200 });
    const patient = await startWebhook({ ...failing, [waits]: true });
    expect(await patient(signedMessage(secret, 'Alice'))).toMatchObject({ status: 500 });
    expect(page).toContain(`\`${waits}\` must be \`true\``);
  });

  test('only the raw body is as it came', async () => {
    const message = signedMessage(secret, 'Alice');
    const commandGets = async (source: string) => {
      const ask = await startWebhook({
        'execute-command': '/usr/bin/env',
        'pass-environment-to-command': [{ source, envname: 'BODY' }],
      });
      const { text } = await ask(message);
      return /^BODY=(.*)$/m.exec(text)?.[1];
    };
    expect(await commandGets('raw-request-body')).toBe(String(message.body));
    const anew = (await commandGets('entire-payload')) ?? '';
    expect(JSON.parse(anew)).toEqual(JSON.parse(String(message.body)));
    expect(anew).not.toBe(String(message.body));
  });

  test('a body of more than 128 KiB is no variable for its command', async () => {
    const ask = await startWebhook({
      'execute-command': '/bin/true',
      'pass-environment-to-command': [{ source: 'raw-request-body', envname: 'BODY' }],
    });
    const message = (filling: string) => signedMessage(secret, 'Alice', { filling });
    expect(await ask(message(''))).toMatchObject({ status: 200 });
    expect(await ask(message('x'.repeat(128 * 1024)))).toMatchObject({ status: 500 });
    expect(page).toContain('at most 128 KiB');
  });
});
