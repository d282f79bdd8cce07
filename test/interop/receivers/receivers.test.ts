import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFiles, readPage } from '../../../scripts/documents/blocks.ts';
import { keyOf } from '../../../src/outbound/signature.ts';
import type { EventType } from '../../generated/graphql.ts';
import { callRest } from '../../support/operations/rest.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { adminOf, createWebhook, readWebhook, webhookUntil } from '../../support/webhooks.ts';
import { tableOf } from '../printed-table.ts';
import { forgedMessages, type Message, signedMessage, unusualMessages } from './forged-messages.ts';
import {
  prepareReceiver,
  type Receiver,
  type RunningReceiver,
  receivers,
} from './receiver-process.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const admin = await adminOf(service);

interface Seen {
  readonly seen: string | number;
  readonly due: string | number;
}

/** What each answered, and what it had to. */
const rows = new Map<string, Record<string, Seen>>();
const installed = receivers.filter(({ isInstalled }) => isInstalled);

interface Subscription {
  readonly running: RunningReceiver;
  readonly webhook: { readonly id: string; readonly secret: string };
  readonly row: Record<string, Seen>;
}
const rest = async (path: string, body?: object) => {
  const answer = await callRest(admin, 'POST', path, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

/** What is beyond ASCII, and what HTML and SQL would change. */
const named = (word: string) => `Zoë <&>"' 山田 😀 ${word}`;
// A line that is JSON has the quotation mark escaped.
const seenAs = (word: string) => `山田 😀 ${word}`;
let users = 0;
const addUser = (word: string) => {
  users += 1;
  return rest('/users', { username: `person_${users}`, name: named(word) });
};

/** Waits until a receiver has taken the last of so many messages, and Signet knows that it has taken all. */
async function allTaken(
  { running, webhook }: Subscription,
  deliveries: number,
  last: string,
): Promise<void> {
  // This costs less than to ask the service all the time.
  await eventually(() => expect(running.taken(seenAs(last))).toBeGreaterThan(0), 100);
  await webhookUntil(
    admin,
    webhook.id,
    ({ deliveries: all }) =>
      all.length === deliveries && all.every(({ status }) => status === 'SUCCEEDED'),
  );
}

/** Counts what a receiver has taken. */
async function countTaken({ running, row }: Subscription): Promise<void> {
  const { receiver, taken } = running;
  const due: Record<string, [text: string, count: number]> = {
    once: [seenAs('first'), 1],
    large: [seenAs('large'), receiver.isOfUsers ? 0 : 1],
    'taken by hand': ['Alice', 4],
    'old secret': [seenAs('old secret'), 1],
    'new secret': [seenAs('new secret'), 1],
    forged: ['Mallory', 0],
  };
  // What it prints may come after its answer. This is the last.
  await eventually(() => expect(taken(seenAs('new secret'))).toBeGreaterThan(0));
  for (const [name, [text, count]] of Object.entries(due)) {
    row[name] = { seen: taken(text), due: count };
  }
}

/** Sends a message as a stranger would; 413 stands for a connection that the receiver closed. */
async function send(url: string, { headers, body }: Message): Promise<number> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 413;
  }
}

const isTaken = (status: number) => (status < 300 ? 'taken' : 'refused');

/** Starts a receiver with the secret of a new webhook, as it is in a file: with a newline. */
async function subscribe(receiver: Receiver): Promise<Subscription> {
  const running = await prepareReceiver(receiver);
  const { url } = running;
  const events: EventType[] = ['USER_CREATED', 'APPLICATION_CREATED'];
  const webhook = await createWebhook(admin, { name: receiver.file, url, events });

  const bare = await running.startInVain('');
  const signedByAnybody = signedMessage('', 'Mallory', { keys: [keyOf('')] });
  const answer = isTaken(await send(url, signedByAnybody));
  await bare.kill();

  await running.start(`${webhook.secret}\n`);
  return { running, webhook, row: { 'no secret': { seen: answer, due: 'refused' } } };
}

/** Creates an application whose event is almost as large as a message can be. */
const addLargeApplication = () => {
  const addresses = (count: number, path: string) =>
    Array.from({ length: count }, (_, index) =>
      `https://example.com/${path}/${index}/`.padEnd(2000, 'x'),
    );
  return rest('/applications', {
    name: named('large'),
    type: 'TRADITIONAL',
    redirectUris: addresses(100, 'in'),
    postLogoutRedirectUris: addresses(29, 'out'),
  });
};

/** Sends the oldest message once more, as a retry would whose first answer was lost. */
async function sendAgain({ webhook }: Subscription): Promise<void> {
  const { deliveries } = await readWebhook(admin, webhook.id);
  const id = deliveries.at(-1)?.id;
  await rest(`/deliveries/${id}/redeliver`);
  await webhookUntil(admin, webhook.id, ({ deliveries: all }) => {
    const again = all.find((each) => each.id === id);
    return again?.status === 'SUCCEEDED' && again.attempts.length === 2;
  });
}

async function sendByHand({ running, webhook: { secret }, row }: Subscription): Promise<void> {
  const { receiver, url } = running;
  for (const [name, message] of Object.entries(unusualMessages(secret, 'Alice'))) {
    row[name] = { seen: await send(url, message), due: 204 };
  }
  for (const [name, message] of Object.entries(forgedMessages(secret, 'Mallory'))) {
    row[name] = { seen: await send(url, message), due: receiver.refusal };
  }
  const filling = randomBytes(1024 * 1024).toString('hex');
  const long = signedMessage(secret, 'Long', { filling });
  row['too long'] = { seen: await send(url, long), due: receiver.tooLong };
}

beforeAll(async () => {
  const measure = await startReceiver();
  await createWebhook(admin, { url: measure.url, events: ['APPLICATION_CREATED'] });
  const subscriptions = await Promise.all(installed.map(subscribe));
  for (const { running, row } of subscriptions) rows.set(running.receiver.file, row);
  const each = (act: (subscription: Subscription) => Promise<unknown>) =>
    Promise.all(subscriptions.map(act));

  await addUser('first');
  await each((subscription) => allTaken(subscription, 1, 'first'));
  await Promise.all([addLargeApplication(), addUser('beside')]);
  await each((subscription) => allTaken(subscription, 3, 'beside'));
  const [{ body = '' } = {}] = await measure.arrived(1);
  expect(Buffer.byteLength(body)).toBeGreaterThan(250 * 1024);

  await each(sendAgain);
  await each(sendByHand);

  const secrets = new Map<string, string>();
  for (const { webhook } of subscriptions) {
    secrets.set(webhook.id, (await rest(`/webhooks/${webhook.id}/secret/rotate`)).secret);
  }
  await addUser('old secret');
  await each((subscription) => allTaken(subscription, 4, 'old secret'));
  await each(({ running, webhook }) => running.start(secrets.get(webhook.id) ?? ''));
  await addUser('new secret');
  await each((subscription) => allTaken(subscription, 5, 'new secret'));
  await each(countTaken);
});

afterAll(() => {
  const lines = [...rows].map(([receiver, row]) => {
    const others = Object.entries(row).filter(([, { seen, due }]) => seen !== due);
    return {
      receiver,
      'as it has to be': String(Object.keys(row).length - others.length),
      otherwise: others.map(([name, { seen, due }]) => `${name}: ${seen}, not ${due}`).join('; '),
    };
  });
  process.stdout.write(tableOf(lines));
  for (const { file, needs, isInstalled } of receivers) {
    if (!isInstalled) process.stdout.write(`${file} is left out: it needs ${needs}.\n`);
  }
});

describe('a receiver takes what Signet sends, once, and nothing else', () => {
  test.for(installed)('$file', ({ file }) => {
    const row = Object.entries(rows.get(file) ?? {});
    expect(row).toHaveLength(28);
    expect(Object.fromEntries(row.map(([name, { seen }]) => [name, seen]))).toEqual(
      Object.fromEntries(row.map(([name, { due }]) => [name, due])),
    );
  });
});

test('docs/receiving-webhooks.md names each file of examples/receivers', () => {
  const files = projectFiles().filter((file) =>
    /^examples\/receivers\/.*(?<!package.*\.json)$/.test(file),
  );
  const page = readPage('docs/receiving-webhooks.md');
  expect(files.filter((file) => !page.includes(`(../${file})`))).toEqual([]);
  const tried = receivers.map(({ file }) => `examples/${file}`);
  // What others of them use.
  const parts = /(signet_webhooks\.py|take-message\.pl)$/;
  expect(files.filter((file) => !tried.includes(file) && !parts.test(file))).toEqual([]);
});
