import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../support/operations/directory.ts';
import { postAccess } from '../support/permissions/client.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const directory = seedDirectory(service.testDatabase.database, service.clock);
const token = await service.managementToken('permissions:read');
const { baseUrl } = service.app.services;
const orders = await directory.createResource(['read', 'write']);
const [alice, bob] = [await directory.createUser(), await directory.createUser()];
for (const person of [alice, bob]) await directory.allowUser(person, orders, ['read']);
const organization = await directory.createOrganization();
await directory.addMember(organization, alice, { resource: orders, resourceScopes: ['write'] });

const question = {
  subject: { type: 'user', id: alice.id },
  action: { name: 'read' },
  resource: { type: 'api', id: orders.indicator },
};
const search = { ...question, subject: { type: 'user' } };
const post = (path: string, body: unknown, headers?: Record<string, string>) =>
  postAccess(service, token, path, body, headers);
const paths = ['evaluation', 'evaluations', 'search/subject', 'search/action', 'search/resource'];

test('the metadata names every endpoint', async () => {
  const response = await fetch(`${service.url}/.well-known/authzen-configuration`, {
    headers: { 'x-request-id': 'meta' },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('x-request-id')).toBe('meta');
  expect(await response.json()).toEqual({
    policy_decision_point: baseUrl,
    access_evaluation_endpoint: `${baseUrl}/access/v1/evaluation`,
    access_evaluations_endpoint: `${baseUrl}/access/v1/evaluations`,
    search_subject_endpoint: `${baseUrl}/access/v1/search/subject`,
    search_action_endpoint: `${baseUrl}/access/v1/search/action`,
    search_resource_endpoint: `${baseUrl}/access/v1/search/resource`,
  });
});

describe.each(paths)('%s', (path) => {
  test('takes a token with permissions:read, or with all, and no other', async () => {
    const others =
      'users:read applications:read roles:read resources:read organizations:read events:read';
    for (const [scope, status] of [
      ['all', 200],
      [others, 403],
      ['permissions:read', 200],
    ] as const) {
      const answer = await postAccess(
        service,
        await service.managementToken(scope),
        path,
        question,
      );
      expect([scope, answer.status]).toEqual([scope, status]);
      if (status === 403) expect(answer.body.requiredScope).toBe('permissions:read');
    }
    for (const bad of [undefined, 'x', `${token}x`]) {
      // A stranger is not told what would be well-formed.
      for (const body of [question, '{', '', {}]) {
        const { status, headers } = await postAccess(service, bad, path, body, {
          'x-request-id': 'mine',
        });
        expect(status).toBe(401);
        const fault = bad === undefined ? '' : ' error="invalid_token"';
        expect(headers.get('www-authenticate')).toBe(`Bearer${fault}`);
        expect(headers.get('x-request-id')).toBe('mine');
      }
    }
  });

  test.each<[string, unknown]>([
    ['no JSON', '{'],
    ['nothing', ''],
    ['a list', []],
    ['a text', '"alice"'],
    ['null', 'null'],
    ['a subject that is a text', { ...question, subject: 'alice' }],
    ['a subject without a type', { ...question, subject: { id: alice.id } }],
    ['a resource that is null', { ...question, resource: null }],
    ['a resource without a type', { ...question, resource: { id: 'x' } }],
    ['an organization that is a number', { ...question, context: { organization_id: 7 } }],
    ['an organization that is null', { ...question, context: { organization_id: null } }],
    ['a context that is a list', { ...question, context: [] }],
    [
      'properties that are a text',
      { ...question, resource: { ...question.resource, properties: 'x' } },
    ],
    ['a name of a megabyte', { ...question, resource: { type: 'x'.repeat(2 ** 20), id: 'x' } }],
  ])('answers 400 to %s', async (_what, body) => {
    const { status, headers, body: problem } = await post(path, body, { 'x-request-id': 'r-1' });
    expect([status, headers.get('x-request-id'), problem.code]).toEqual([
      400,
      'r-1',
      'BAD_USER_INPUT',
    ]);
  });

  test('answers 400 to another media type, and 405 to another method', async () => {
    const { status } = await post(path, JSON.stringify(question), { 'content-type': 'text/plain' });
    expect(status).toBe(400);
    const got = await fetch(`${service.url}/access/v1/${path}`);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('gives back the name of a request, and makes none up', async () => {
    for (const id of ['bfe9eb29-ab87-4ca3-be83-a1d5d8305716', '"><script>', 'ä'])
      expect((await post(path, question, { 'x-request-id': id })).headers.get('x-request-id')).toBe(
        id,
      );
    expect((await post(path, question)).headers.get('x-request-id')).toBeNull();
  });
});

test.each([
  ['evaluation', ['subject', 'action', 'resource']],
  ['evaluations', ['subject', 'action', 'resource']],
  ['search/subject', ['subject', 'action', 'resource']],
  ['search/resource', ['subject', 'action', 'resource']],
  ['search/action', ['subject', 'resource']],
] as const)('%s needs each of %j whole', async (path, entities) => {
  for (const entity of entities) {
    const { status, body } = await post(path, { ...question, [entity]: undefined });
    expect([entity, status]).toEqual([entity, 400]);
    expect(body.detail).toContain(`"${entity}"`);
    const isSearchedFor = path === `search/${entity}`;
    const { id: _id, ...typed } = { ...question[entity], id: '' } as Record<string, string>;
    const partial = await post(path, {
      ...question,
      [entity]: entity === 'action' ? {} : typed,
    });
    expect([entity, partial.status]).toEqual([entity, isSearchedFor ? 200 : 400]);
  }
});

describe('what does not exist, or is nobody’s business, is denied without a reason', () => {
  test.each<[string, object]>([
    ['an unknown user', { subject: { type: 'user', id: 'user_01h455vb4pex5vsknk084sn02q' } }],
    ['an id that is none', { subject: { type: 'user', id: '\0' } }],
    ['a user as an application', { subject: { type: 'application', id: alice.id } }],
    ['an unknown type of subject', { subject: { type: 'spaceship', id: alice.id } }],
    ['an unknown scope', { action: { name: 'share' } }],
    ['two scopes', { action: { name: 'read write' } }],
    ['half a character', { action: { name: '\ud800' } }],
    ['an unknown API', { resource: { type: 'api', id: 'https://nowhere.example' } }],
    ['an API that is no URI', { resource: { type: 'api', id: 'orders' } }],
    ['an API by its id', { resource: { type: 'api', id: orders.id } }],
    ['an unknown type of resource', { resource: { type: 'todo', id: orders.indicator } }],
    ['an unknown organization', { context: { organization_id: 'org_01h455vb4pex5vsknk084sn02q' } }],
    ['an organization that is none', { context: { organization_id: '' } }],
    [
      'an organization of others',
      { subject: { type: 'user', id: bob.id }, context: { organization_id: organization.id } },
    ],
  ])('%s', async (_what, change) => {
    expect((await post('evaluation', { ...question, ...change })).body).toEqual({
      decision: false,
    });
  });

  test('a suspended user is like one that never was', async () => {
    const person = await directory.createUser({ isSuspended: true });
    await directory.allowUser(person, orders, ['read']);
    const asked = { ...question, subject: { type: 'user', id: person.id } };
    expect((await post('evaluation', asked)).body).toEqual({ decision: false });
    expect((await post('search/subject', search)).body.results).not.toContainEqual(asked.subject);
  });

  test('an organization limits the answer', async () => {
    const write = { ...question, action: { name: 'write' } };
    const within = { ...write, context: { organization_id: organization.id, time: 'now' } };
    expect((await post('evaluation', write)).body).toEqual({ decision: true });
    expect((await post('evaluation', within)).body).toEqual({ decision: true });
    const other = await directory.createOrganization();
    await directory.addMember(other, alice);
    const elsewhere = { ...write, context: { organization_id: other.id } };
    expect((await post('evaluation', elsewhere)).body).toEqual({ decision: false });
  });
});

describe('a page of a search', () => {
  const first = async () => (await post('search/subject', { ...search, page: { limit: 1 } })).body;

  test('goes on with its token, with the limit or without', async () => {
    const { page, results } = await first();
    expect([page.count, results]).toEqual([1, [{ type: 'user', id: alice.id }]]);
    for (const more of [{}, { limit: 1 }]) {
      const body = { ...search, page: { token: page.next_token, ...more } };
      expect((await post('search/subject', body)).body).toEqual({
        page: { next_token: '', count: 1 },
        results: [{ type: 'user', id: bob.id }],
      });
    }
    // What is ignored may differ.
    const body = {
      ...search,
      subject: { type: 'user', id: bob.id },
      page: { token: page.next_token },
    };
    expect((await post('search/subject', body)).status).toBe(200);
  });

  test('may be empty, and says that there is more', async () => {
    const { page, results } = (await post('search/subject', { ...search, page: { limit: 0 } }))
      .body;
    expect([page.count, results]).toEqual([0, []]);
    expect(page.next_token).not.toBe('');
  });

  test('refuses a token of another search, of nobody, or with another limit', async () => {
    const { page } = await first();
    const token = page.next_token as string;
    const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const [path, body] of [
      ['search/subject', { ...search, action: { name: 'write' }, page: { token } }],
      ['search/subject', { ...search, subject: { type: 'application' }, page: { token } }],
      [
        'search/subject',
        { ...search, context: { organization_id: organization.id }, page: { token } },
      ],
      ['search/subject', { ...search, page: { token, limit: 2 } }],
      ['search/subject', { ...search, page: { token: changed } }],
      [
        'search/subject',
        { ...search, page: { token: Buffer.from(alice.id).toString('base64url') } },
      ],
      ['search/resource', { ...question, page: { token } }],
      ['search/action', { ...question, page: { token } }],
      ['search/subject', { ...search, page: { token: 'x'.repeat(1e5) } }],
      ['search/subject', { ...search, page: { limit: -1 } }],
      ['search/subject', { ...search, page: { limit: 1.5 } }],
      ['search/subject', { ...search, page: { limit: '1' } }],
      ['search/subject', { ...search, page: 'x' }],
    ] as const) {
      const answer = await post(path, body);
      expect([path, answer.status]).toEqual([path, 400]);
    }
    // It tells no id.
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain(alice.id);
  });

  test('has at most a thousand entries', async () => {
    const { status, body } = await post('search/subject', { ...search, page: { limit: 1e9 } });
    expect([status, body.page]).toEqual([200, { next_token: '', count: 2 }]);
  });
});

describe('many questions in one request', () => {
  const evaluations = (count: number) => Array.from({ length: count }, () => ({}));

  test('a thousand are answered, and no more are taken', async () => {
    const answer = await post('evaluations', { ...question, evaluations: evaluations(1_000) });
    expect([answer.status, answer.body.evaluations.length]).toEqual([200, 1_000]);
    expect(
      new Set(answer.body.evaluations.map((one: { decision: boolean }) => one.decision)),
    ).toEqual(new Set([true]));
    const tooMany = await post('evaluations', { ...question, evaluations: evaluations(10_000) });
    expect(tooMany.status).toBe(400);
    expect(tooMany.body.detail).toContain('"evaluations"');
  });

  test('a body of many megabytes is not read', async () => {
    const long = { ...question, context: { note: 'x'.repeat(5 * 2 ** 20) } };
    const { status } = await post('evaluations', long);
    expect(status).toBe(413);
  });

  test('an unknown semantic is refused', async () => {
    const options = { evaluations_semantic: 'majority' };
    const { status, body } = await post('evaluations', { ...question, evaluations: [{}], options });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('evaluations_semantic')]);
  });

  test('requests at once get their own answers', async () => {
    const people = await Promise.all(Array.from({ length: 40 }, () => directory.createUser()));
    for (const [i, person] of people.entries())
      if (i % 3 === 0) await directory.allowUser(person, orders, ['write']);
    const answers = await Promise.all(
      people.map(({ id }) =>
        post('evaluation', {
          ...question,
          subject: { type: 'user', id },
          action: { name: 'write' },
        }),
      ),
    );
    expect(answers.map(({ body }) => body.decision)).toEqual(
      people.map((_person, i) => i % 3 === 0),
    );
  });
});
