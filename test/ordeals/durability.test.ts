import { expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createProcessDatabase } from '../support/database.ts';
import { events } from '../support/events.ts';
import { ask, graphql, payload } from '../support/operations/graphql.ts';
import { startProcess } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const database = await createProcessDatabase();

const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };
const environment = {
  ...database,
  SIGNET_SECRET: 'a secret for tests only, and a long one',
  ADMIN_CLIENT_ID: admin.id,
  ADMIN_CLIENT_SECRET: admin.secret,
};

async function start() {
  const { child, ready, ended } = startProcess(environment);
  const url = await ready;
  const token = await fetchManagementToken({ url }, admin);
  return { child, ended, endpoint: { url, token } };
}

const Create = graphql(`
  mutation CreateDurable($input: CreateUserInput!) {
    createUser(input: $input) { __typename ... on CreateUserPayload { user { id } } }
  }
`);

const Users = graphql(`
  query DurableUsers($after: String) {
    users(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      edges { node { id } }
    }
  }
`);

type Endpoint = { url: string; token: string };

const readPage = async (endpoint: Endpoint, after: string | null) =>
  (await ask(endpoint, Users, { after })).users;

async function userIds(endpoint: Endpoint): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null | undefined = null;
  do {
    const { edges, pageInfo }: Awaited<ReturnType<typeof readPage>> = await readPage(
      endpoint,
      after,
    );
    ids.push(...edges.map(({ node }) => node.id));
    after = pageInfo.hasNextPage ? pageInfo.endCursor : undefined;
  } while (after);
  return ids;
}

test('loses no acknowledged user or event when killed', async () => {
  const acknowledged = new Set<string>();
  let sent = 0;
  for (let round = 1; round <= 3; round += 1) {
    const { child, ended, endpoint } = await start();
    const target = acknowledged.size + 60;
    const writer = async () => {
      for (;;) {
        sent += 1;
        const input = { username: `user_${round}_${sent}` };
        // The kill breaks the connections of the calls under way: those were not acknowledged.
        const answer = await ask(endpoint, Create, { input }).catch(() => undefined);
        if (!answer) return;
        acknowledged.add(payload(answer.createUser, 'CreateUserPayload').user.id);
        if (acknowledged.size === target) child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 8 }, writer));
    expect(await ended).toBe('SIGKILL');
  }

  const { child, ended, endpoint } = await start();
  expect(acknowledged.size).toBeGreaterThanOrEqual(180);
  // Each user has its one event and each event its user, acknowledged or not; once the transactions have ended that
  // the last kill left behind.
  const stored = await eventually(async () => {
    const ids = await userIds(endpoint);
    const created = (await events(endpoint)).filter(({ name }) => name === 'User.Created');
    expect(created.map(({ data }) => data['id']).sort()).toEqual(ids.toSorted());
    return ids;
  });
  expect([...acknowledged].filter((id) => !stored.includes(id))).toEqual([]);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});
