import { beforeAll, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { connect, logEnd, subscribe } from '../support/subscriber.ts';

const service = await startService();
let endpoint: { url: string; token: string };

beforeAll(async () => {
  endpoint = { url: service.url, token: await service.managementToken() };
});

async function mutate(query: string, variables: object, token = endpoint.token) {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as { data: Record<string, Record<string, { id: string }>> };
}

async function createUser(input: object = {}): Promise<string> {
  const { data } = await mutate(
    `mutation ($input: CreateUserInput!) {
      createUser(input: $input) { ... on CreateUserPayload { user { id } } }
    }`,
    { input },
  );
  const id = data['createUser']?.['user']?.id;
  if (!id) throw new Error('No user was created.');
  return id;
}

test('delivers events live, in the order in which they happened', async () => {
  const after = await logEnd(endpoint);
  const subscriber = subscribe(connect(endpoint), { after });
  const ids: string[] = [];
  for (let i = 0; i < 5; i += 1) ids.push(await createUser({ name: `user ${i}` }));
  const events = await subscriber.received(5);
  expect(events.map(({ data }) => data['id'])).toEqual(ids);
  expect(new Set(events.map(({ name }) => name))).toEqual(new Set(['User.Created']));
});
