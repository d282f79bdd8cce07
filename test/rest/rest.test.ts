import { describe, expect, test } from 'vitest';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const token = await service.managementToken();
const call = (method: string, path: string, body?: unknown, as: string | undefined = token) =>
  callRest({ url: service.url, token: as }, method, path, body);
const { prisma } = service.app.services.database;
const unknownUser = 'user_01h455vb4pex5vsknk084sn02q';

const createUser = async (values: object = {}): Promise<{ id: string; createdAt: string }> =>
  (await call('POST', '/users', values)).body.user;

test('creates, reads, changes and deletes a record', async () => {
  const created = await call('POST', '/users', { username: 'rest', customData: { plan: 'free' } });
  expect(created).toMatchObject({
    status: 201,
    body: { user: { username: 'rest', customData: { plan: 'free' }, isSuspended: false } },
  });
  const { id } = created.body.user;
  expect(await call('GET', `/users/${id}`)).toMatchObject({ status: 200, body: created.body });

  const changed = await call('PATCH', `/users/${id}`, { name: 'Rest', username: null });
  expect(changed).toMatchObject({ status: 200, body: { user: { name: 'Rest', username: null } } });
  const merged = await call('PATCH', `/users/${id}/custom-data`, { customData: { seats: 3 } });
  expect(merged.body.user.customData).toEqual({ plan: 'free', seats: 3 });

  expect(await call('DELETE', `/users/${id}`)).toMatchObject({
    status: 200,
    body: { user: { id } },
  });
  expect(await call('GET', `/users/${id}`)).toMatchObject({
    status: 404,
    body: { code: 'NOT_FOUND', id },
  });
});

test('lists in pages, filtered, ordered, and counted on request', async () => {
  for (const name of ['Page C', 'Page A', 'Page B']) await createUser({ name });
  const first = await call(
    'GET',
    '/users?search=page&orderBy=NAME&direction=DESC&first=2&totalCount=true',
  );
  expect(first.body.users.map(({ name }: { name: string }) => name)).toEqual(['Page C', 'Page B']);
  expect(first.body).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
  const { endCursor } = first.body.pageInfo;
  const next = await call(
    'GET',
    `/users?search=page&orderBy=NAME&direction=DESC&first=2&after=${endCursor}`,
  );
  expect(next.body.users.map(({ name }: { name: string }) => name)).toEqual(['Page A']);
  expect(next.body).not.toHaveProperty('totalCount');
  const suspended = await call('GET', '/users?search=page&isSuspended=true');
  expect(suspended.body.users).toEqual([]);
  // The log shows an event once no older transaction is open, on PostgreSQL that of another database too.
  const events = async () =>
    (await call('GET', '/events?types=USER_CREATED&types=USER_DELETED&first=1')).body.events;
  await expect
    .poll(events, { interval: 10 })
    .toMatchObject([{ name: 'User.Created', type: 'USER_CREATED' }]);
  const listed = await call('GET', '/events?types=USER_CREATED,USER_DELETED&first=1');
  expect(listed.body.events).toEqual(await events());
  expect(await call('GET', '/events?types=USER_CREATED,,')).toMatchObject({
    status: 400,
    body: { code: 'BAD_USER_INPUT' },
  });
});

test('lists the records that belong to a record', async () => {
  const { body } = await call('POST', '/resources', {
    name: 'R',
    indicator: 'https://r.example.com',
  });
  const { id: resourceId } = body.resource;
  const scope = await call('POST', `/resources/${resourceId}/scopes`, { name: 'read' });
  expect(scope).toMatchObject({
    status: 201,
    body: { scope: { name: 'read', resource: { id: resourceId } } },
  });
  const { id: scopeId } = scope.body.scope;
  const role = (await call('POST', '/roles', { name: 'Reader', scopeIds: [scopeId] })).body.role;
  expect((await call('GET', `/roles/${role.id}/scopes`)).body.scopes).toMatchObject([
    { id: scopeId },
  ]);
  expect((await call('GET', `/resources/${resourceId}/scopes`)).body.scopes).toHaveLength(1);
  const { id: userId } = await createUser();
  await call('PUT', `/users/${userId}/roles`, { roleIds: [role.id] });
  expect((await call('GET', `/users/${userId}/roles?totalCount=true`)).body).toMatchObject({
    roles: [{ id: role.id }],
    totalCount: 1,
  });
  expect(await call('GET', '/roles/role_01h455vb4pex5vsknk084sn02q/scopes')).toMatchObject({
    status: 404,
  });
});

test('a secret is only in the answer that creates it', async () => {
  const { body, status } = await call('POST', '/applications', {
    name: 'App',
    type: 'TRADITIONAL',
  });
  expect(status).toBe(201);
  expect(body.secret).toBeTypeOf('string');
  const secrets = await call('GET', `/applications/${body.application.id}/secrets`);
  expect(secrets.body.secrets).toHaveLength(1);
  expect(JSON.stringify(secrets.body)).not.toContain(body.secret);
  const application = await call('GET', `/applications/${body.application.id}`);
  expect(JSON.stringify(application.body)).not.toContain(body.secret);
});

test('a record is found only under its owner', async () => {
  const create = async (indicator: string): Promise<string> =>
    (await call('POST', '/resources', { name: 'R', indicator })).body.resource.id;
  const [one, other] = [
    await create('https://one.example.com'),
    await create('https://other.example.com'),
  ];
  const { id } = (await call('POST', `/resources/${one}/scopes`, { name: 'read' })).body.scope;
  for (const method of ['PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { name: 'moved' } : undefined;
    expect(await call(method, `/resources/${other}/scopes/${id}`, body)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', id },
    });
  }
  expect(await prisma.scope.findUnique({ where: { id } })).toMatchObject({ name: 'read' });
  expect(await call('DELETE', `/resources/${one}/scopes/${id}`)).toMatchObject({ status: 200 });
});

describe('a refusal is a problem document', () => {
  const problems: [
    title: string,
    status: number,
    code: string,
    () => ReturnType<typeof call>,
    object?,
  ][] = [
    [
      'an input that breaks rules, with every issue',
      422,
      'INVALID_INPUT',
      () => call('POST', '/users', { username: '1', password: 'short' }),
      {
        issues: [
          expect.objectContaining({ path: ['username'] }),
          expect.objectContaining({ path: ['password'] }),
        ],
      },
    ],
    [
      'an unknown id',
      404,
      'NOT_FOUND',
      () => call('DELETE', `/users/${unknownUser}`),
      { id: unknownUser },
    ],
    [
      'a value taken',
      409,
      'CONFLICT',
      async () => {
        await createUser({ username: 'taken' });
        return call('POST', '/users', { username: 'TAKEN' });
      },
      { path: ['username'] },
    ],
    [
      'what a rule forbids',
      403,
      'NOT_ALLOWED',
      async () => {
        const resource = await prisma.resource.findUniqueOrThrow({
          where: { indicator: 'urn:signet:management' },
        });
        return call('DELETE', `/resources/${resource.id}`);
      },
    ],
    [
      'a scope that is missing',
      403,
      'FORBIDDEN',
      async () => call('POST', '/users', {}, await service.managementToken('users:read')),
      { requiredScope: 'users:write' },
    ],
    ['no token', 401, 'UNAUTHENTICATED', () => callRest({ url: service.url }, 'GET', '/users')],
    [
      'a token that is none',
      401,
      'UNAUTHENTICATED',
      () => call('GET', '/users', undefined, 'nonsense'),
    ],
    ['an unknown field', 400, 'BAD_USER_INPUT', () => call('POST', '/users', { nickname: 'x' })],
    [
      'a field that the path names',
      400,
      'BAD_USER_INPUT',
      () => call('PATCH', `/users/${unknownUser}`, { id: unknownUser }),
    ],
    [
      'a value of another type',
      400,
      'BAD_USER_INPUT',
      () => call('POST', '/roles', { name: 'x', isDefault: 'yes' }),
    ],
    ['a missing field', 400, 'BAD_USER_INPUT', () => call('POST', '/roles', {})],
    ['a body that is no object', 400, 'BAD_USER_INPUT', () => call('POST', '/users', [])],
    ['an unknown query parameter', 400, 'BAD_USER_INPUT', () => call('GET', '/users?nickname=x')],
    ['a page too large', 400, 'BAD_USER_INPUT', () => call('GET', '/users?first=101')],
    ['a number that is none', 400, 'BAD_USER_INPUT', () => call('GET', '/users?first=ten')],
    ['a cursor that is none', 400, 'BAD_USER_INPUT', () => call('GET', '/users?after=nonsense')],
    ['an unknown route', 404, 'UNKNOWN_ROUTE', () => call('GET', '/nothing')],
    [
      'a method that the route does not take',
      405,
      'METHOD_NOT_ALLOWED',
      () => call('PUT', '/users', {}),
    ],
    [
      'a body too large',
      413,
      'PAYLOAD_TOO_LARGE',
      () => call('POST', '/users', { name: 'x'.repeat(5_000_000) }),
    ],
  ];
  test.each(problems)('%s', async (_title, status, code, send, members = {}) => {
    const before = [await prisma.event.count(), await prisma.user.count()];
    const isSetUp = code === 'CONFLICT';
    const answer = await send();
    expect(answer).toMatchObject({
      status,
      body: {
        type: `urn:signet:problem:${code.toLowerCase().replaceAll('_', '-')}`,
        title: expect.any(String),
        detail: expect.any(String),
        status,
        code,
        ...members,
      },
    });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    if (status === 401)
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata="/);
    if (status === 405) expect(answer.headers.get('allow')).toBe('GET, POST, HEAD');
    if (!isSetUp) expect([await prisma.event.count(), await prisma.user.count()]).toEqual(before);
  });

  test.each([
    ['text/plain', 'x', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['application/x-www-form-urlencoded', 'name=x', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['application/json', '{"name":', 400, 'BAD_USER_INPUT'],
  ])('a body of %s that is %s', async (type, body, status, code) => {
    const response = await fetch(`${service.url}/api/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      body,
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ code });
  });

  test.each([
    ['PATCH', 'application/merge-patch+json', 200],
    ['PATCH', 'application/merge-patch+json; charset=utf-8', 200],
    ['PATCH', 'application/json', 200],
    ['PATCH', 'application/json-patch+json', 415],
    ['POST', 'application/merge-patch+json', 415],
  ])('%s with a body of %s: %i', async (method, type, status) => {
    const { id } = await createUser();
    const response = await fetch(`${service.url}/api/users${method === 'PATCH' ? `/${id}` : ''}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      body: JSON.stringify({ name: 'Ada' }),
    });
    expect(response.status).toBe(status);
    const body = (await response.json()) as { detail?: string };
    if (status === 415) expect(body.detail).toContain('application/json');
    expect(response.headers.get('accept-patch')).toBe(
      method === 'PATCH' ? 'application/json, application/merge-patch+json' : null,
    );
  });

  test('an internal fault, with details only in the log', async () => {
    const { id } = await createUser();
    await prisma.$executeRawUnsafe('ALTER TABLE "Event" RENAME TO "EventAway"');
    const answer = await call('DELETE', `/users/${id}`);
    await prisma.$executeRawUnsafe('ALTER TABLE "EventAway" RENAME TO "Event"');
    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL_SERVER_ERROR' } });
    const { requestId } = answer.body;
    expect(service.logged).toContainEqual(expect.objectContaining({ requestId, level: 50 }));
    expect(JSON.stringify(answer.body)).not.toMatch(/Event/);
    expect((await call('GET', `/users/${id}`)).status).toBe(200);
  });
});

test.each(['PATCH', 'PUT', 'DELETE'])('lets pages of any origin send %s', async (method) => {
  const { headers } = await fetch(`${service.url}/api/users/none`, {
    method: 'OPTIONS',
    headers: { origin: 'https://admin.example.com', 'access-control-request-method': method },
  });
  expect(headers.get('access-control-allow-methods')).toContain(method);
});

test('takes an OPTIONS request that is no preflight', async () => {
  const response = await fetch(`${service.url}/api/users`, { method: 'OPTIONS' });
  expect(response.status).toBe(204);
});

test('refuses a QUERY request without a media type', async () => {
  const answer = await call('QUERY', '/users');
  expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
});
