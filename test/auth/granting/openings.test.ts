import { describe, expect, test } from 'vitest';
import { guarded, openingsOfInput } from '../../../src/auth/granting/guard.ts';
import { assertMayBeAnybody } from '../../../src/auth/granting/may-open.ts';
import { openingsOf } from '../../../src/auth/granting/openings.ts';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { inputFields, mutations } from '../../support/operations/operations.ts';
import { startService } from '../../support/service.ts';

describe('the table of what operations can open', () => {
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
  const operation = 'deleteIdentityProvider';
  const write = (scopes: readonly string[], isAsked: boolean) =>
    guarded(context(scopes), { operation, input: { id: 'idp_1' } }, () =>
      quietTransaction(database, async (tx) => {
        await tx.builtIn.create({ data: { name: 'kept', recordId: '1', createdAt: clock.now() } });
        if (isAsked) await assertMayBeAnybody(tx, context(scopes));
      }),
    );

  test('is not run for nobody, who would be bound by nothing', () => {
    const input = { id: 'idp_1' };
    expect(() =>
      guarded({ caller: null }, { operation, input }, () => Promise.reject(new Error('It ran.'))),
    ).toThrow(/called by nobody/);
  });

  test('commits nothing', async () => {
    await expect(write(['experience:write'], false)).rejects.toThrow(/did not ask .* EVERYBODY/);
    expect(await database.prisma.builtIn.count({ where: { name: 'kept' } })).toBe(0);
  });

  test('commits once it asks, and for whoever holds all', async () => {
    await write(['experience:write'], true);
    await database.prisma.builtIn.deleteMany({ where: { name: 'kept' } });
    await write(['all'], false);
    expect(await database.prisma.builtIn.count({ where: { name: 'kept' } })).toBe(1);
  });
});
