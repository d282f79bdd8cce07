import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../support/operations/directory.ts';
import { postAccess, searchAll } from '../support/permissions/client.ts';
import { startService } from '../support/service.ts';

// The scenarios of the AuthZEN working group, with people and things of our own: a list of tasks whose rules are roles
// (Todo), and records that people see by their department, their rank, or because they own them (Search). A thing is an
// API here, so every rule of those is a role. https://github.com/openid/authzen/tree/main/interop

const service = await startService();
const { database } = service.testDatabase;
const { prisma } = database;
const directory = seedDirectory(database, service.clock);
const token = await service.managementToken('permissions:read');
const post = (path: string, body: unknown) => postAccess(service, token, path, body);
const user = (id: string) => ({ type: 'user', id });
const api = (id: string) => ({ type: 'api', id });

describe('the tasks', async () => {
  const actions = [
    'can_read_user',
    'can_read_todos',
    'can_create_todo',
    'can_update_todo',
    'can_delete_todo',
  ];
  const viewer = actions.slice(0, 2);
  const editor = actions.slice(0, 3);
  const roles = {
    viewer,
    editor,
    admin: [...editor, 'can_delete_todo'],
    genius: [...editor, 'can_update_todo'],
  };
  const people = {
    noor: ['admin', 'genius'],
    pim: ['editor'],
    quirin: ['editor'],
    runa: ['viewer'],
    sol: ['viewer'],
  } as const;
  const todos = await directory.createResource(actions);
  const ids: Record<string, string> = {};
  for (const [name, held] of Object.entries(people)) {
    const person = await directory.createUser({ username: name });
    ids[name] = person.id;
    for (const role of held) await directory.allowUser(person, todos, roles[role]);
  }
  const idOf = (name: string) => ids[name] as string;
  const may = (name: string, action: string) =>
    people[name as keyof typeof people].some((role) => roles[role].includes(action));
  const table = Object.keys(people).flatMap((name) =>
    actions.map((action) => [name, action, may(name, action)] as const),
  );

  test.each(table)('%s and %s: %s', async (name, action, decision) => {
    const question = {
      subject: user(idOf(name)),
      action: { name: action },
      resource: api(todos.indicator),
    };
    expect(await post('evaluation', question)).toMatchObject({ status: 200, body: { decision } });
    // What the applications of the scenario send besides: properties and a context.
    const detailed = {
      subject: { ...question.subject, properties: { department: 'Sales', role: 'manager' } },
      action: { ...question.action, properties: { method: 'PUT' } },
      resource: {
        ...question.resource,
        properties: { ownerID: `${name}@example.com`, status: 'open' },
      },
      context: { time: '2026-11-24T08:00:00+01:00', ip: '192.0.2.1' },
      later: { nested: true },
    };
    expect((await post('evaluation', detailed)).body).toEqual({ decision });
  });

  test('of one person in one request, with an empty default', async () => {
    const { body } = await post('evaluations', {
      subject: user(idOf('pim')),
      action: { name: 'can_create_todo' },
      resource: {},
      context: {},
      evaluations: [
        { resource: api(todos.indicator) },
        { action: { name: 'can_update_todo' }, resource: api(todos.indicator) },
        { resource: { type: 'todo', id: '7240d0db' } },
      ],
    });
    expect(body).toEqual({
      evaluations: [{ decision: true }, { decision: false }, { decision: false }],
    });
  });

  test.each([
    ['execute_all', [true, false, true, false]],
    [undefined, [true, false, true, false]],
    ['deny_on_first_deny', [true, false]],
    ['permit_on_first_permit', [true]],
  ])('by the semantic %s', async (semantic, decisions) => {
    const { body } = await post('evaluations', {
      subject: user(idOf('pim')),
      resource: api(todos.indicator),
      ...(semantic === undefined ? {} : { options: { evaluations_semantic: semantic, other: 1 } }),
      evaluations: ['can_read_user', 'can_delete_todo', 'can_read_todos', 'can_update_todo'].map(
        (name) => ({ action: { name } }),
      ),
    });
    expect(body).toEqual({ evaluations: decisions.map((decision) => ({ decision })) });
  });

  test('an evaluation that is not whole is denied beside the others', async () => {
    const { status, body } = await post('evaluations', {
      subject: user(idOf('noor')),
      action: { name: 'can_read_todos' },
      evaluations: [
        { resource: api(todos.indicator) },
        {},
        5,
        { subject: 'noor', resource: api('x:') },
      ],
    });
    expect(status).toBe(200);
    expect(body.evaluations).toEqual([
      { decision: true },
      ...[1, 2, 3].map(() => ({
        decision: false,
        context: { error: { status: 400, message: expect.any(String) } },
      })),
    ]);
    expect(body.evaluations[1].context.error.message).toContain('"resource"');
  });

  test.each([
    ['none', {}],
    ['an empty list', { evaluations: [] }],
  ])('with %s of evaluations, the request is one question', async (_what, more) => {
    const question = {
      subject: user(idOf('noor')),
      action: { name: 'can_read_todos' },
      resource: api(todos.indicator),
    };
    expect((await post('evaluations', { ...question, ...more })).body).toEqual({ decision: true });
    const { status } = await post('evaluations', { ...question, action: {}, ...more });
    expect(status).toBe(400);
  });
});

describe('the records', async () => {
  const actions = ['view', 'edit', 'delete'] as const;
  type Action = (typeof actions)[number];
  const people = {
    ada: ['manager', 'Sales'],
    ben: ['employee', 'Legal'],
    cleo: ['contractor', 'Legal'],
    dora: ['manager', 'Finance'],
    emil: ['employee', 'Finance'],
    flora: ['contractor', 'Accounting'],
  } as const;
  type Person = keyof typeof people;
  const names = Object.keys(people) as Person[];
  const departments = ['Legal', 'Accounting', 'Sales', 'Finance'] as const;
  const records = Array.from({ length: 12 }, (_, i) => ({
    owner: names[i % 6] as Person,
    department: departments[(i * 5 + Math.floor(i / 4)) % 4] as (typeof departments)[number],
  }));

  /** The rules of the scenario. */
  const may = (person: Person, action: Action, { owner, department }: (typeof records)[number]) => {
    const [rank, own] = people[person];
    const rules: Record<Action, boolean> = {
      view: owner === person || department === own || rank === 'manager',
      edit: owner === person || (rank === 'manager' && department === own),
      delete: owner === person,
    };
    return rules[action];
  };

  // The same rules as roles.
  const createRole = async (name: string) => (await directory.createRoleOf(name)).id;
  const ids: Record<string, string> = {};
  for (const name of names) ids[name] = (await directory.createUser({ username: name })).id;
  const resources = await Promise.all(records.map(() => directory.createResource(actions)));
  const resourceOf = (i: number) => resources[i] as (typeof resources)[number];
  const indicatorOf = (i: number) => resourceOf(i).indicator;
  const assign = (roleId: string, name: Person) =>
    prisma.userRole.create({
      data: { roleId, userId: ids[name] as string, setterScopes: ['all'] },
    });
  const everyRecord = await createRole('Managers');
  const ofDepartment = new Map<string, string>();
  const managed = new Map<string, string>();
  for (const department of departments) {
    ofDepartment.set(department, await createRole(`People of ${department}`));
    managed.set(department, await createRole(`Managers of ${department}`));
  }
  for (const name of names) {
    const [rank, own] = people[name];
    const owned = await createRole(`Owner ${name}`);
    await assign(owned, name);
    await assign(ofDepartment.get(own) as string, name);
    if (rank === 'manager') await assign(everyRecord, name);
    if (rank === 'manager') await assign(managed.get(own) as string, name);
    for (const [i, { owner }] of records.entries())
      if (owner === name) await directory.addScopes(owned, resourceOf(i), actions);
  }
  for (const [i, { department }] of records.entries()) {
    await directory.addScopes(everyRecord, resourceOf(i), ['view']);
    await directory.addScopes(String(ofDepartment.get(department)), resourceOf(i), ['view']);
    await directory.addScopes(String(managed.get(department)), resourceOf(i), ['edit']);
  }

  test('who may do what with each', async () => {
    for (const [i, record] of records.entries()) {
      for (const action of actions) {
        const found = await searchAll(
          service,
          token,
          'search/subject',
          {
            subject: { type: 'user', id: ids['ada'] },
            action: { name: action },
            resource: api(indicatorOf(i)),
          },
          2,
        );
        const expected = names.filter((name) => may(name, action, record)).map((name) => ids[name]);
        expect([i, action, found]).toEqual([i, action, expected.map((id) => user(String(id)))]);
      }
    }
  });

  test('what each may do with which, by all three questions', async () => {
    for (const name of names) {
      const subject = user(String(ids[name]));
      for (const action of actions) {
        const found = await searchAll(
          service,
          token,
          'search/resource',
          { subject, action: { name: action }, resource: { type: 'api', id: 'ignored' } },
          5,
        );
        const expected = records
          .flatMap((record, i) => (may(name, action, record) ? [indicatorOf(i)] : []))
          .sort();
        expect([name, action, found]).toEqual([name, action, expected.map(api)]);
      }
      const allowed = await Promise.all(
        records.map(async (_record, i) => {
          const body = { subject, resource: api(indicatorOf(i)) };
          const { body: answer } = await post('search/action', body);
          return answer.results.map((one: { name: string }) => one.name);
        }),
      );
      expect(allowed).toEqual(
        records.map((record) => actions.filter((action) => may(name, action, record)).toSorted()),
      );
    }
  });

  test.each([
    [
      'an unknown subject',
      'search/action',
      { subject: user('nobody'), resource: api(indicatorOf(0)) },
    ],
    [
      'an unknown type of subject',
      'search/subject',
      { subject: { type: 'spaceship' }, action: { name: 'view' }, resource: api(indicatorOf(0)) },
    ],
    [
      'an unknown type of resource',
      'search/resource',
      { subject: user(String(ids['ada'])), action: { name: 'view' }, resource: { type: 'record' } },
    ],
    [
      'an unknown action',
      'search/subject',
      { subject: { type: 'user' }, action: { name: 'share' }, resource: api(indicatorOf(0)) },
    ],
    [
      'an unknown API',
      'search/subject',
      {
        subject: { type: 'user' },
        action: { name: 'view' },
        resource: api('https://nowhere.example'),
      },
    ],
  ])('nothing is found for %s', async (_what, path, body) => {
    expect(await post(path, body)).toMatchObject({
      status: 200,
      body: { page: { next_token: '', count: 0 }, results: [] },
    });
  });
});
