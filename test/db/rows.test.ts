import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { datamodel, type ModelField } from '../../src/db/rows/datamodel.ts';
import { rowsOf } from '../../src/db/rows/rows.ts';
import { NotByDriver, type RowsQuery, statementOf } from '../../src/db/rows/statement.ts';
import { fuzz } from '../fuzz/drawing/fuzz.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createTestDatabase } from '../support/database.ts';
import { seedDirectory } from '../support/operations/directory.ts';

const testDatabase = await createTestDatabase(2);
closeAtEnd(() => testDatabase.close());
const { database } = testDatabase;
const { prisma } = database;

const { models } = datamodel.datamodel;
type Name = (typeof names)[number];
const names = [
  'User',
  'Role',
  'Scope',
  'Resource',
  'Organization',
  'Application',
  'Session',
  'Interaction',
  'Verification',
] as const;
type Row = Readonly<Record<string, unknown>> & { readonly id: string };

const directory = seedDirectory(database, systemClock);
const orders = await directory.createResource(['read', 'write']);
const files = await directory.createResource(['list']);
const application = await directory.createClient();
const organization = await directory.createOrganization();
await directory.createOrganization();
for (const name of [null, 'Ann', 'O\'Neil \\ "x" ∑', 'Ann']) {
  const user = await directory.createUser();
  await directory.allowUser(user, orders, ['read', 'write']);
  if (name) await directory.allowUser(user, files, ['list']);
  await directory.addMember(organization, user, { resource: files, resourceScopes: ['list'] });
  // Its list of applications has no value.
  await directory.createSession(user.id);
  await prisma.user.update({
    where: { id: user.id },
    data: {
      name,
      profile: { nickname: name, deep: [1.5, null, { a: '"' }] },
      customData: name ? { name } : {},
      isSuspended: name === 'Ann',
      setterScopes: name ? ['users:read', 'a,b', '"'] : [],
      lastSignInAt: name ? new Date('2026-02-03T04:05:06.789Z') : null,
    },
  });
}

for (const [index, user] of (await prisma.user.findMany()).entries()) {
  const { id } = await prisma.interaction.create({
    data: {
      id: `int_${index}`,
      digest: new Uint8Array([0, 255, index]),
      applicationId: application.id,
      userId: index % 2 ? user.id : null,
      authenticationMethods: index % 2 ? ['pwd', 'otp'] : [],
      createdAt: new Date(index),
      expiresAt: new Date(1e12),
    },
  });
  await prisma.verification.create({
    data: {
      id: `ver_${index}`,
      interactionId: id,
      purpose: 'SIGN_IN',
      type: 'EMAIL',
      recipient: `${index}@example.com`,
      createdAt: new Date(index),
      expiresAt: new Date(1e12),
      codes: {
        create: {
          // More than a number of JSON can hold.
          id: 2n ** 60n + BigInt(index),
          digest: new Uint8Array(index),
          expiresAt: new Date(1e12),
        },
      },
    },
  });
}

/** By Prisma alone. */
const byPrisma = (name: Name) =>
  // biome-ignore lint/suspicious/noExplicitAny: each model has arguments of its own.
  (prisma as any)[name.toLowerCase()] as { findMany(query: RowsQuery): Promise<Row[]> };

const existing = new Map<Name, Row[]>();
for (const name of names) existing.set(name, await byPrisma(name).findMany({}));

const isByDriver = (name: string, query: RowsQuery): boolean => {
  try {
    statementOf(name, query);
    return true;
  } catch (error) {
    if (error instanceof NotByDriver) return false;
    throw error;
  }
};

const scalarsOf = (name: string) =>
  (models[name]?.fields ?? []).filter(({ kind }) => kind !== 'object');
const comparable = (name: string) =>
  scalarsOf(name).filter(({ type, isList }) => !isList && type !== 'Json' && type !== 'Bytes');

/** A condition about a column, with a value of an existing row. */
const conditionOn = (
  name: Name,
  { name: column, type, isRequired }: ModelField,
): fc.Arbitrary<object> =>
  fc
    .record({
      value: fc.constantFrom(...(existing.get(name) ?? []).map((row) => row[column])),
      operator: fc.constantFrom('equals', 'gt', 'gte', 'lt', 'lte', 'plain', 'not', 'text'),
    })
    .map(({ value, operator }) => {
      if (operator === 'not' && !isRequired) return { [column]: { not: null } };
      if (value === null || value === undefined) return { [column]: null };
      if (operator === 'text') {
        return { [column]: value instanceof Date ? value.toISOString() : value };
      }
      const isOrdered = type !== 'Boolean';
      return {
        [column]: ['plain', 'not'].includes(operator) || !isOrdered ? value : { [operator]: value },
      };
    });

const someConditions = (name: Name): fc.Arbitrary<object> =>
  fc.oneof(
    fc.constant({}),
    ...comparable(name)
      .filter(({ kind }) => kind === 'scalar')
      .map((field) => conditionOn(name, field)),
  );

const anyCondition = (name: Name): fc.Arbitrary<object> =>
  fc
    .record({
      own: someConditions(name),
      all: fc.array(someConditions(name), { maxLength: 3 }),
      any: fc.option(fc.array(someConditions(name), { maxLength: 3 }), { nil: undefined }),
    })
    .map(({ own, all, any }) => ({ ...own, AND: all, OR: any }));

/** What of a model's row is read; of relations as far as the depth goes. */
function anySelection(name: string, depth: number): fc.Arbitrary<RowsQuery> {
  const columns = fc.subarray(
    scalarsOf(name).map((field) => field.name),
    { minLength: 1 },
  );
  const relations = (models[name]?.fields ?? []).filter(({ kind }) => kind === 'object');
  const within =
    depth === 0 || relations.length === 0
      ? fc.constant<[string, boolean | RowsQuery][]>([])
      : fc.array(
          fc.constantFrom(...relations).chain((field) =>
            anySelection(field.type, depth - 1).map((selection): [string, RowsQuery] => [
              field.name,
              field.isList
                ? {
                    ...selection,
                    orderBy: keyOf(field.type).map((key) => ({ [key]: 'desc' })),
                    take: 2,
                  }
                : selection,
            ]),
          ),
          { maxLength: 2 },
        );
  return fc
    .record({ columns, within, isInclude: fc.boolean() })
    .map(({ columns: chosen, within: parts, isInclude }) =>
      isInclude
        ? { include: Object.fromEntries(parts) }
        : {
            select: Object.fromEntries([...chosen.map((column) => [column, true]), ...parts]),
          },
    );
}

const keyOf = (name: string): readonly string[] =>
  models[name]?.primaryKey?.fields ??
  scalarsOf(name)
    .filter(({ isId }) => isId)
    .map((field) => field.name);

const anyOrder = (name: Name) =>
  fc
    .record({
      field: fc.constantFrom(...comparable(name)),
      sort: fc.constantFrom('asc', 'desc'),
      nulls: fc.constantFrom('first', 'last'),
    })
    .map(({ field, sort, nulls }) => [
      { [field.name]: field.isRequired ? sort : { sort, nulls } },
      { id: sort },
    ]);

const anyQuery = fc.constantFrom(...names).chain((name) =>
  fc
    .record({
      selection: anySelection(name, 2),
      where: anyCondition(name),
      orderBy: anyOrder(name),
      take: fc.constantFrom(1, 2, 50),
    })
    .map(({ selection, ...rest }) => ({ name, query: { ...selection, ...rest } as RowsQuery })),
);

fuzz('rows are read as Prisma reads them', 300, async (g) => {
  const { name, query } = g(() => anyQuery);
  const rows = await rowsOf(database, name).findMany(query);
  expect(rows).toEqual(await byPrisma(name).findMany(query));
});

test('most such queries are read by the driver', () => {
  const drawn = fc.sample(anyQuery, { seed: 1, numRuns: 300 });
  const made = drawn.filter(({ name, query }) => isByDriver(name, query));
  expect(made.length).toBeGreaterThan(150);
});

test('one row is found by its id', async () => {
  const { id } = application;
  const rows = rowsOf<Row>(database, 'Application');
  expect(await rows.findUnique({ where: { id } })).toEqual(
    await prisma.application.findUnique({ where: { id } }),
  );
  for (const other of ['app_none', '', 'a\0b', '\ud800']) {
    const found = await rows.findUnique({ where: { id: other } }).catch((error: Error) => error);
    const expected = await prisma.application
      .findUnique({ where: { id: other } })
      .catch((error: Error) => error);
    expect(found instanceof Error).toBe(expected instanceof Error);
    if (!(found instanceof Error)) expect(found).toEqual(expected);
  }
});

test('what is slow, or fails, for some rows is so for no others', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<never>();
  const sql: typeof database.sql = {
    ...database.sql,
    query(name, text, values) {
      if (!text.includes('FROM "Role"')) return database.sql.query(name, text, values);
      asked.resolve();
      return answer.promise;
    },
  };
  const lookUp = (model: 'Role' | 'Application', id: string) =>
    rowsOf<Row>({ prisma, sql }, model).findUnique({ where: { id } });
  const roles = ['role_1', 'role_2'].map((id) => lookUp('Role', id));
  // Of two look-ups, the statement is sent one round of the loop later than of one.
  await asked.promise;
  const { id } = application;
  expect(await lookUp('Application', id)).toMatchObject({ id });
  // Both are waited for before either fails: a promise that fails unseen ends the process.
  const refused = roles.map((role) => expect(role).rejects.toThrow('The table is locked.'));
  answer.reject(new Error('The table is locked.'));
  await Promise.all(refused);
});

test.each<[string, RowsQuery & Record<string, unknown>]>([
  ['a filter by other rows', { where: { roles: { some: {} } } }],
  ['a count', { include: { _count: true } }],
  ['a part of a text', { where: { name: { contains: 'a' } } }],
  ['a text as an instant', { where: { createdAt: { gt: 'yesterday' } } }],
  ['a value of another type', { where: { isSuspended: 'yes' } }],
  ['a null where there is none', { where: { createdAt: null } }],
  ['something other than such a null', { where: { createdAt: { not: null } } }],
  ['a choice of nothing', { where: { AND: { OR: [] } } }],
  ['a choice of empty parts', { where: { OR: [{ AND: [{}, { name: undefined }] }] } }],
  ['a null as a condition', { where: { AND: null } }],
  ['an order by nothing', { orderBy: {} }],
  ['an argument of its own', { skip: 1 }],
  ['rows from the end', { take: -1 }],
])('Prisma reads %s', async (_what, query) => {
  expect(isByDriver('User', query)).toBe(false);
  const read = (rows: { findMany(given: RowsQuery): Promise<unknown[]> }) =>
    rows.findMany({ orderBy: { id: 'asc' }, ...query }).catch((error: Error) => error.name);
  expect(await read(rowsOf(database, 'User'))).toEqual(await read(byPrisma('User')));
});
