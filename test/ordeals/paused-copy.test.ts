import { cp, rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createDataDir } from '../support/database.ts';
import { send } from '../support/operations/graphql.ts';
import { startProcess } from '../support/process.ts';

const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };
const settings = { ADMIN_CLIENT_ID: admin.id, ADMIN_CLIENT_SECRET: admin.secret };

async function start(dataDir: string) {
  const { child, ready, ended } = startProcess({ DATA_DIR: dataDir, ...settings });
  closeAtEnd(async () => {
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await ended;
  });
  const url = await ready;
  return { child, endpoint: { url, token: await fetchManagementToken({ url }, admin) } };
}

interface Created {
  readonly createUser: { readonly user: { readonly id: string } };
}
const create = (username: string) =>
  `mutation { createUser(input: { username: "${username}" }) { ... on CreateUserPayload { user { id } } } }`;

test('a copy of the data folder of a paused service has all that was acknowledged until then', async () => {
  const dataDir = await createDataDir();
  const { child, endpoint } = await start(dataDir);
  const acknowledged: string[] = [];
  const goal = Promise.withResolvers<void>();
  let isOver = false;
  const writer = async (_: unknown, number: number) => {
    for (let count = 0; !isOver; count += 1) {
      const { data } = await send<Created>(endpoint, create(`user_${number}_${count}`));
      if (data) acknowledged.push(data.createUser.user.id);
      if (acknowledged.length === 40) goal.resolve();
    }
  };
  const writing = Promise.all(Array.from({ length: 8 }, writer));
  await goal.promise;

  const kept = `${dataDir}-kept`;
  closeAtEnd(() => rm(kept, { recursive: true, force: true }));
  child.kill('SIGSTOP');
  // What had been answered by now, and perhaps not read yet, is more.
  const until = [...acknowledged];
  await cp(dataDir, kept, { recursive: true });
  child.kill('SIGCONT');
  const more = acknowledged.length + 8;
  await expect.poll(() => acknowledged.length).toBeGreaterThan(more);
  isOver = true;
  await writing;

  const copy = await start(kept);
  const { data } = await send<{ nodes: ({ id: string } | null)[] }, { ids: string[] }>(
    copy.endpoint,
    'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    { ids: until.slice(0, 100) },
  );
  expect(data?.nodes.map((node) => node?.id)).toEqual(until.slice(0, 100));
  const after = await send<Created>(copy.endpoint, create('one_more'));
  expect(after.data?.createUser.user.id).toMatch(/^user_/);
});
