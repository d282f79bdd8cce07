import { expect, test } from 'vitest';
import { settled } from './support/log.ts';
import { seedDirectory } from './support/operations/directory.ts';
import { ask, graphql } from './support/operations/graphql.ts';
import { startService } from './support/service.ts';
import { exchange, userToken } from './support/tokens.ts';

const service = await startService({}, { poolSize: 10 });
const directory = seedDirectory(service.testDatabase.database, service.clock);

test('pools of ten serve 256 mutations and 256 exchanges', async () => {
  const endpoint = { url: service.url, token: await service.managementToken() };
  const resource = await directory.createResource(['read']);
  const user = await directory.createUser();
  await directory.allowUser(user, resource, ['read']);
  const client = await directory.createClient({ allowTokenExchange: true });
  const subject_token = await userToken(service, user.id, client);

  const count = 256;
  const Create = graphql(`
    mutation CreateInBurst($input: CreateUserInput!) {
      createUser(input: $input) { __typename }
    }
  `);
  const [created, exchanged] = await Promise.all([
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        ask(endpoint, Create, { input: { username: `burst_${n}` } }),
      ),
    ),
    Promise.all(
      Array.from({ length: count }, () =>
        exchange(service, client, { subject_token, resource: resource.indicator, scope: 'read' }),
      ),
    ),
  ]);
  expect(created.map(({ createUser }) => createUser.__typename)).toEqual(
    Array.from({ length: count }, () => 'CreateUserPayload'),
  );
  expect(exchanged.map(({ status, body }) => [status, body['scope']])).toEqual(
    Array.from({ length: count }, () => [200, 'read']),
  );
  await settled(service.testDatabase.database);
  const { users, events } = await ask(
    endpoint,
    graphql(`query AfterBurst {
      users(filter: { search: "burst_" }) { totalCount }
      events(types: [USER_CREATED]) { totalCount }
    }`),
  );
  expect([users.totalCount, events.totalCount]).toEqual([count, count]);
});
