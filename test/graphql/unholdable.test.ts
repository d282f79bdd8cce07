import { expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };

test.each([
  'query ($text: String!) { users(filter: { search: $text }) { totalCount } }',
  'query ($text: String!) { organizations(filter: { search: $text }) { totalCount } }',
])('a NUL character is a fault of the input: %s', async (document) => {
  const answer = await send<unknown, { text: string }>(endpoint, document, {
    text: 'user\u0000',
  });
  expect(answer).toMatchObject({
    status: 400,
    errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
  });
});

test('in a query too', async () => {
  expect(await callRest(endpoint, 'GET', '/users?search=user%00')).toMatchObject({ status: 400 });
});
