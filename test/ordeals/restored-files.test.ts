import { cp, rm } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createDataDir } from '../support/database.ts';
import { send } from '../support/operations/graphql.ts';
import { createPostgresqlServer } from '../support/peers/postgresql/server.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { connect, subscribe } from '../support/peers/subscriber.ts';
import { startProcess } from '../support/process.ts';
import { eventually } from '../support/wait.ts';
import { createUser, createWebhook } from '../support/webhooks.ts';

const longSecret = 'a secret for tests only, and long enough';
const admin = { id: newId('Application'), secret: longSecret };
const settings = {
  ALLOW_PRIVATE_WEBHOOKS: 'true',
  SIGNET_SECRET: longSecret,
  ADMIN_CLIENT_ID: admin.id,
  ADMIN_CLIENT_SECRET: admin.secret,
};

/** A database with its service, which can go back to a copy of its files. */
interface Restorable {
  /** Resolves with the address of the service, once it answers. */
  url(): Promise<string>;
  keep(): Promise<void>;
  restore(): Promise<void>;
}

async function onEmbedded(): Promise<Restorable> {
  const dataDir = await createDataDir();
  const kept = `${dataDir}-kept`;
  const start = () => startProcess({ DATA_DIR: dataDir, ...settings });
  let node = start();
  const stop = async () => {
    node.child.kill('SIGTERM');
    await node.ended;
  };
  closeAtEnd(stop);
  closeAtEnd(() => rm(kept, { recursive: true, force: true }));
  return {
    url: () => node.ready,
    async keep() {
      await stop();
      await cp(dataDir, kept, { recursive: true });
      node = start();
    },
    async restore() {
      await stop();
      await rm(dataDir, { recursive: true });
      await cp(kept, dataDir, { recursive: true });
      node = start();
    },
  };
}

/** The service keeps running all the while. */
async function onServer(): Promise<Restorable> {
  const server = await createPostgresqlServer();
  closeAtEnd(() => server.close());
  await server.start();
  const node = startProcess({ DATABASE_URL: server.url, ...settings });
  closeAtEnd(async () => {
    node.child.kill('SIGTERM');
    await node.ended;
  });
  const ready = async () => {
    const url = await node.ready;
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
    return url;
  };
  return {
    url: ready,
    async keep() {
      await ready();
      await server.stop('fast');
      await server.keepFiles();
      await server.start();
    },
    async restore() {
      await server.stop('fast');
      await server.restoreFiles();
      await server.start();
    },
  };
}

test('after a return to copied files, no cursor leads past a gap, and webhooks get all', async () => {
  const database = await (inject('postgresql') ? onServer() : onEmbedded());
  const endpoint = async () => {
    const url = await database.url();
    return { url, token: await fetchManagementToken({ url }, admin) };
  };
  const after = async (cursor?: string) =>
    send<{ events: { edges: { cursor: string; node: { id: string; name: string } }[] } }, object>(
      await endpoint(),
      'query ($after: String) { events(first: 100, after: $after) { edges { cursor node { id name } } } }',
      { after: cursor },
    );
  const isOfUser = ({ node }: { node: { name: string } }) => node.name === 'User.Created';
  /** The log, once it tells of so many users: an older transaction that is open hides newer events. */
  const readLog = (users: number) =>
    eventually(async () => {
      const { data, errors } = await after();
      if (!data) throw new Error(JSON.stringify(errors));
      expect(data.events.edges.filter(isOfUser)).toHaveLength(users);
      return data.events.edges;
    });
  const change = async (count: number) => {
    for (let done = 0; done < count; done += 1) await createUser(await endpoint());
  };

  const receiver = await startReceiver();
  await createWebhook(await endpoint(), { url: receiver.url });
  await change(5);
  await database.keep();
  await change(5);
  const old = await readLog(5 + 5);
  const live = subscribe(connect(await endpoint()), { after: old.at(-1)?.cursor });
  await change(2);
  await live.received(2);
  const lost = [...(await readLog(5 + 5 + 2)), ...live.events.map(({ cursor }) => ({ cursor }))];

  await database.restore();
  await change(12);
  const log = await readLog(5 + 12);
  const kept = new Set(log.map(({ node }) => node.id));
  // It saw events that never were. Nothing of the new history came to it as if it followed.
  expect(live.events).toHaveLength(2);

  let honoured = 0;
  for (const { cursor } of [...old, ...lost]) {
    const { data, errors } = await after(cursor);
    const from = log.findIndex((edge) => edge.cursor === cursor);
    if (from === -1) {
      expect(errors?.[0]?.extensions).toEqual({ code: 'CURSOR_EXPIRED' });
      continue;
    }
    honoured += 1;
    expect(data?.events.edges.map(({ node }) => node.id)).toEqual(
      log.slice(from + 1).map(({ node }) => node.id),
    );
  }
  expect(honoured).toBeGreaterThan(5);
  expect(old.filter(({ node }) => !kept.has(node.id))).toHaveLength(5);
  const again = subscribe(connect(await endpoint()), { after: live.cursor });
  await again.until(({ errors }) => errors.length > 0);
  expect(again.errors[0]?.extensions).toEqual({ code: 'CURSOR_EXPIRED' });

  const told = log.filter(isOfUser).map(({ node }) => node.id);
  await receiver.until((messages) => {
    const delivered = new Set(messages.map(({ json }) => json.id));
    return told.every((id) => delivered.has(id));
  });
});
