import { type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { guarded, openingsOfInput } from '../../../src/auth/granting/guard.ts';
import { assertMayBe } from '../../../src/auth/granting/may-open.ts';
import { openingsOf, openingsOfParts } from '../../../src/auth/granting/openings.ts';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { inputFields, mutations } from '../../support/operations/operations.ts';
import { startService } from '../../support/service.ts';

/** The input objects within the inputs of mutations. */
const parts = new Map<string, GraphQLInputObjectType>();
/** What a field of a mutation's input, or of a part of it, is made of. */
const partIn = (field: { readonly type: unknown }): GraphQLInputObjectType | undefined => {
  const type = getNamedType(field.type as GraphQLInputObjectType);
  return isInputObjectType(type) ? type : undefined;
};
const collect = (type: GraphQLInputObjectType): void => {
  if (parts.has(type.name)) return;
  parts.set(type.name, type);
  for (const field of Object.values(type.getFields())) {
    const part = partIn(field);
    if (part) collect(part);
  }
};
for (const operation of Object.keys(mutations)) {
  for (const field of Object.values(inputFields(operation))) {
    const part = partIn(field);
    if (part) collect(part);
  }
}

/** What a field with parts can open by one of them, and does not say itself. */
const unsaid = (
  row: Readonly<Record<string, unknown>>,
  fields: ReturnType<GraphQLInputObjectType['getFields']>,
): string[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const said = new Set([row[name] ?? []].flat());
    const byParts = Object.values(openingsOfParts[partIn(field)?.name ?? ''] ?? {});
    return byParts
      .flatMap((opening) => [opening ?? []].flat())
      .filter((opening) => !said.has(opening))
      .map((opening) => `${name}: ${opening}`);
  });

describe('the table of what operations can open', () => {
  test('has every part of an input', () => {
    expect(Object.keys(openingsOfParts).sort()).toEqual([...parts.keys()].sort());
  });

  test.each([...parts])(
    'has every field of %s, and what it is part of says as much',
    (name, type) => {
      const row = openingsOfParts[name] ?? {};
      expect(Object.keys(row).sort()).toEqual(Object.keys(type.getFields()).sort());
      expect(unsaid(row, type.getFields())).toEqual([]);
    },
  );

  test.each(Object.keys(mutations))('says of %s what its parts can open', (operation) => {
    expect(unsaid(openingsOf[operation] ?? {}, inputFields(operation))).toEqual([]);
  });

  test('has every mutation', () => {
    expect(Object.keys(openingsOf).sort()).toEqual(Object.keys(mutations).sort());
  });

  test.each(Object.keys(mutations))('has every field of %s', (operation) => {
    // The version is compared before the operation, which never sees it.
    const fields = Object.keys(inputFields(operation)).filter((name) => name !== 'expectedVersion');
    expect(Object.keys(openingsOf[operation] ?? {}).sort()).toEqual(fields.sort());
  });

  test('is asked about the given fields alone', () => {
    const input = { id: 'user_1', name: 'Ada', username: undefined, primaryPhone: null };
    expect(openingsOfInput('updateUser', input)).toEqual(new Set(['PERSON', 'LATER']));
    expect(() => openingsOfInput('updateUser', { id: 'user_1', rank: 1 })).toThrow(
      /updateUser.rank/,
    );
    expect(() => openingsOfInput('becomeAdmin', {})).toThrow(/becomeAdmin/);
  });
});

describe('an operation that forgets its check', async () => {
  const { app, clock } = await startService();
  const { database } = app.services;
  const context = (scopes: readonly string[]) => ({ caller: { scopes: new Set(scopes) }, clock });
  const operation = 'deleteUserFactor';
  const write = (scopes: readonly string[], isAsked: boolean) =>
    guarded(context(scopes), { operation, input: { userId: 'user_1' } }, () =>
      quietTransaction(database, async (tx) => {
        await tx.builtIn.create({ data: { name: 'kept', recordId: '1', createdAt: clock.now() } });
        if (isAsked) await assertMayBe(tx, context(scopes), []);
      }),
    );

  test('is not run for nobody, who would be bound by nothing', () => {
    const input = { userId: 'user_1' };
    expect(() =>
      guarded({ caller: null }, { operation, input }, () => Promise.reject(new Error('It ran.'))),
    ).toThrow(/called by nobody/);
  });

  test('commits nothing', async () => {
    await expect(write(['users:write'], false)).rejects.toThrow(/did not ask .* PERSON/);
    expect(await database.prisma.builtIn.count({ where: { name: 'kept' } })).toBe(0);
  });

  test('commits once it asks, and for whoever holds all', async () => {
    await write(['users:write'], true);
    await database.prisma.builtIn.deleteMany({ where: { name: 'kept' } });
    await write(['all'], false);
    expect(await database.prisma.builtIn.count({ where: { name: 'kept' } })).toBe(1);
  });
});
