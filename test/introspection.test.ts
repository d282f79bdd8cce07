import { describe, expect, test } from 'vitest';
import { send } from './support/operations/graphql.ts';
import { callRest } from './support/operations/rest.ts';
import { connect, subscribe } from './support/peers/subscriber.ts';
import { startService } from './support/service.ts';

const open = await startService();
const closed = await startService({ INTROSPECTION: 'false', ALLOW_PRIVATE_WEBHOOKS: 'true' });

const unfitting: readonly [string, string, object][] = [
  ['a field', '{ userz { totalCount } }', {}],
  ['a type', 'query ($f: UserFiltre) { users(filter: $f) { totalCount } }', {}],
  ['an argument', '{ users(fliter: {}) { totalCount } }', {}],
  ['an enum value', '{ events(types: [USER_CREATEDD]) { totalCount } }', {}],
  [
    'a field of a variable',
    'query ($f: UserFilter) { users(filter: $f) { totalCount } }',
    { f: { serach: 'x' } },
  ],
  [
    'an enum value of a variable',
    'query ($t: [EventType!]) { events(types: $t) { totalCount } }',
    { t: ['USER_CREATEDD'] },
  ],
  [
    'a field of an input',
    'mutation ($i: CreateUserInput!) { createUser(input: $i) { __typename } }',
    { i: { usernam: 'x' } },
  ],
];

const messagesOf = (answer: object) =>
  ((answer as { errors?: { message: string }[] }).errors ?? []).map(({ message }) => message);

describe('with introspection off, a message suggests no name', () => {
  test.each(unfitting)('over HTTP, for %s', async (_what, query, variables) => {
    const ask = async ({ url, managementToken }: typeof open) =>
      messagesOf(
        await send<unknown, object>({ url, token: await managementToken() }, query, variables),
      );
    expect((await ask(open)).join()).toContain('Did you mean');
    const told = await ask(closed);
    expect(told).not.toEqual([]);
    expect(told.join()).not.toContain('Did you mean');
  });

  test.each([
    ...unfitting,
    ['a field of an event', 'subscription { events { curser } }', {}],
    [
      'a type to follow',
      'subscription ($t: [EventType!]) { events(types: $t) { id } }',
      { t: ['USER_CREATEDD'] },
    ],
  ] as typeof unfitting)('over WebSocket, for %s', async (_what, query, variables) => {
    const ask = async ({ url, managementToken }: typeof open) => {
      const connection = connect({ url, token: await managementToken() });
      const subscriber = subscribe(connection, variables, query);
      await subscriber.until(({ errors }) => errors.length > 0);
      return subscriber.errors.map(({ message }) => message).join();
    };
    expect(await ask(open)).toContain('Did you mean');
    expect(await ask(closed)).not.toContain('Did you mean');
  });

  test('over REST, for a field within a field', async () => {
    const ask = async ({ url, managementToken }: typeof open) => {
      const body = { users: [{ usernam: 'x' }] };
      const endpoint = { url, token: await managementToken() };
      return (await callRest(endpoint, 'POST', '/users/import', body)).body.detail;
    };
    expect(await ask(open)).toContain('Did you mean');
    expect(await ask(closed)).toMatch(/usernam(?!e)/);
    expect(await ask(closed)).not.toContain('Did you mean');
  });

  test("in the issues of a webhook's query", async () => {
    const ask = async ({ url, managementToken }: typeof open) => {
      const body = {
        name: 'w',
        url: 'https://hooks.example.com/',
        query: 'subscription { events { curser } }',
      };
      const endpoint = { url, token: await managementToken() };
      return JSON.stringify((await callRest(endpoint, 'POST', '/webhooks', body)).body);
    };
    expect(await ask(open)).toContain('Did you mean');
    const told = await ask(closed);
    expect(told).toContain('curser');
    expect(told).not.toContain('Did you mean');
  });
});

describe('openapi.json', () => {
  test('is public with introspection on', async () => {
    expect(await callRest({ url: open.url }, 'GET', '/openapi.json')).toMatchObject({
      status: 200,
      body: { openapi: '3.1.0' },
    });
  });

  test('requires a management scope with introspection off', async () => {
    expect(await callRest({ url: closed.url }, 'GET', '/openapi.json')).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHENTICATED' },
    });
    const forged = await callRest({ url: closed.url, token: 'x.y.z' }, 'GET', '/openapi.json');
    expect(forged).toMatchObject({ status: 401 });
    const none = { url: closed.url, token: await closed.managementToken('') };
    expect(await callRest(none, 'GET', '/openapi.json')).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    });
    const some = { url: closed.url, token: await closed.managementToken('roles:read') };
    const answer = await callRest(some, 'GET', '/openapi.json');
    expect(answer).toMatchObject({ status: 200, body: { openapi: '3.1.0' } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});
