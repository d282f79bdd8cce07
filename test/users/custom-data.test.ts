import { describe, expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };
const { prisma } = service.app.services.database;

// As text: JSON.stringify has an end to its recursion.
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const post = async (path: string, body: string, method = 'POST') => {
  const response = await fetch(`${endpoint.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${endpoint.token}` },
    body,
  });
  return { status: response.status, body: await response.json() };
};
const create = (customData: string) =>
  post(
    '/graphql',
    `{"query":"mutation ($d: JSONObject) { createUser(input: { customData: $d }) { __typename ... on InvalidInputError { issues { path } } } }","variables":{"d":${customData}}}`,
  );

describe('nested custom data', () => {
  test('of 64 levels is stored, read, and merged', async () => {
    const created = await post('/api/users', `{"customData":${nested(64)}}`);
    expect(created.status).toBe(201);
    const { id } = created.body.user;
    const merged = await post(
      `/api/users/${id}/custom-data`,
      `{"customData":{"b":${nested(63)}}}`,
      'PATCH',
    );
    expect(merged.status).toBe(200);
    const read = await callRest(endpoint, 'GET', `/users/${id}`);
    expect(JSON.stringify(read.body.user.customData.b)).toBe(nested(63));
  });

  test.each([65, 2_300, 100_000])('of %d levels is refused by every operation', async (levels) => {
    const users = await prisma.user.count();
    const refused = {
      __typename: 'InvalidInputError',
      issues: [{ path: ['customData'] }],
    };
    expect(await create(nested(levels))).toMatchObject({
      status: 200,
      body: { data: { createUser: refused } },
    });
    expect(await post('/api/users', `{"customData":${nested(levels)}}`)).toMatchObject({
      status: 422,
      body: { code: 'INVALID_INPUT', issues: [{ path: ['customData'] }] },
    });
    const lists = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect((await create(lists)).body).toMatchObject({ data: { createUser: refused } });
    expect(await prisma.user.count()).toBe(users);
  });

  test('in a document itself is refused too', async () => {
    const literal = `${'{ a: '.repeat(1_200)}{}${' }'.repeat(1_200)}`;
    const answer = await send<unknown, object>(
      endpoint,
      `mutation { createUser(input: { customData: ${literal} }) { __typename } }`,
      {},
    );
    expect(answer.status).toBeLessThan(500);
    expect(JSON.stringify(answer)).not.toContain('INTERNAL_SERVER_ERROR');
  });

  test('in an import spoils only its own row', async () => {
    const { body } = await post(
      '/api/users/import',
      `{"users":[{"name":"a"},{"customData":${nested(3_000)}}]}`,
    );
    expect(body).toMatchObject({
      users: [{ name: 'a' }],
      failures: [{ index: 1, code: 'INVALID_INPUT' }],
    });
  });
});

describe('what makes an event too large', () => {
  const update = (id: string, input: object) => callRest(endpoint, 'PATCH', `/users/${id}`, input);

  test('is measured in bytes', async () => {
    const refused = await create(JSON.stringify({ text: '€'.repeat(40_000) }));
    expect(refused.body.data.createUser.issues).toEqual([{ path: ['customData'] }]);
  });

  test('is refused in one change, and names the field', async () => {
    const uris = (length: number, letter: string) =>
      Array.from({ length }, (_, index) => `https://${index}.example/${letter.repeat(1900)}`);
    const created = await callRest(endpoint, 'POST', '/applications', {
      name: 'Many',
      type: 'TRADITIONAL',
      redirectUris: uris(60, 'x'),
    });
    const path = `/applications/${created.body.application.id}`;
    const change = (length: number) =>
      callRest(endpoint, 'PATCH', path, { redirectUris: uris(length, 'y') });
    expect((await change(60)).body).toMatchObject({
      issues: [{ path: ['redirectUris'], code: 'TOO_LONG' }],
    });
    expect((await callRest(endpoint, 'GET', path)).body.application.redirectUris[0]).toMatch(/x$/);
    expect((await change(20)).status).toBe(200);
  });

  test('of before does not stand in the way of other changes', async () => {
    const { body } = await callRest(endpoint, 'POST', '/users', { name: 'Ada' });
    const { id } = body.user;
    const customData = { text: '€'.repeat(100_000) };
    await prisma.user.update({ where: { id }, data: { customData } });
    expect((await update(id, { name: 'Grace' })).status).toBe(200);
    expect((await callRest(endpoint, 'DELETE', `/users/${id}`)).status).toBe(200);
  });
});
