import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { blocksOf } from '../../scripts/documents/blocks.ts';
import { newId } from '../../src/ids.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { send } from '../support/operations/graphql.ts';
import { createPostgresqlServer } from '../support/peers/postgresql/server.ts';
import { connect, logEnd, subscribe } from '../support/peers/subscriber.ts';
import { startProcess } from '../support/process.ts';
import { eventually } from '../support/wait.ts';
import { createUser } from '../support/webhooks.ts';

const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };
const [archiving = '', recovering = ''] = blocksOf('docs/backup.md')
  .filter(({ language }) => language === 'ini')
  .map(({ text }) => text);

test('a base backup and the log after it lead back to a moment, with the service running all the while', async () => {
  const server = await createPostgresqlServer();
  closeAtEnd(() => server.close());
  const archive = join(server.folder, 'wal');
  await mkdir(archive);
  // The server runs as a user of its own.
  await chmod(archive, 0o777);
  const here = (text: string) => text.replaceAll('/backup/wal', archive);
  await server.configure(here(archiving));
  await server.start();
  const read = async (text: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return (await client.query<{ value: string }>(text)).rows[0]?.value ?? '';
    } finally {
      await client.end();
    }
  };
  const node = startProcess({
    DATABASE_URL: server.url,
    SIGNET_SECRET: 'a secret for tests only, and long enough',
    ADMIN_CLIENT_ID: admin.id,
    ADMIN_CLIENT_SECRET: admin.secret,
  });
  closeAtEnd(async () => {
    node.child.kill('SIGTERM');
    await node.ended;
  });
  const url = await node.ready;
  const endpoint = { url, token: await fetchManagementToken({ url }, admin) };

  const early = await createUser(endpoint);
  await server.keepBase();
  const live = subscribe(connect(endpoint), { after: await logEnd(endpoint) });
  // Of what comes after the backup, only the log of the server knows.
  const late = await createUser(endpoint);
  await live.received(1);
  const before = live.cursor;
  const moment = await read('SELECT clock_timestamp()::text AS "value"');
  const mistaken = await createUser(endpoint);
  await live.until(({ events }) => events.some(({ data }) => data['id'] === mistaken.id));
  const after = live.cursor;
  await read('SELECT pg_switch_wal()::text AS "value"');

  await server.stop('fast');
  await server.restoreFiles();
  await server.configure(
    here(recovering).replace(/(recovery_target_time = ')[^']*/, `$1${moment}`),
  );
  await server.recover();
  await server.start();
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));

  const { data } = await send<{ nodes: ({ id: string } | null)[] }, object>(
    endpoint,
    'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    { ids: [early.id, late.id, mistaken.id] },
  );
  expect(data?.nodes.map((found) => found?.id)).toEqual([early.id, late.id, undefined]);
  const again = await createUser(endpoint);
  const from = async (cursor: string | undefined) => {
    const resumed = subscribe(connect(endpoint), { after: cursor });
    await resumed.until(({ events, errors }) => events.length + errors.length > 0);
    return resumed.errors[0]?.extensions?.['code'] ?? resumed.events[0]?.data['id'];
  };
  expect(await from(before)).toBe(again.id);
  expect(await from(after)).toBe('CURSOR_EXPIRED');
});
