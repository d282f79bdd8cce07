import { expect, test } from 'vitest';
import { untold } from '../../src/db/told.ts';
import { type Transaction, transaction } from '../../src/db/transaction.ts';
import { recordEvent } from '../../src/events/record.ts';
import { newId } from '../../src/ids.ts';
import { roleRecord } from '../../src/roles/payload.ts';
import { systemActor } from '../../src/services.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createTestDatabase } from '../support/database.ts';

const testDatabase = await createTestDatabase(2);
closeAtEnd(() => testDatabase.close());
const { database } = testDatabase;

const now = new Date();
const insert = (tx: Transaction, name: string) =>
  tx.role.create({
    data: { id: newId('Role'), name, type: 'USER', createdAt: now, updatedAt: now },
  });

test('a transaction that changes a row and tells nothing does not compile', async () => {
  // The types are the test: `npm run typecheck` fails where one of these compiles.
  // @ts-expect-error a row is no proof
  await expect(transaction(database, (tx) => insert(tx, 'untold'))).rejects.toThrow();
  // @ts-expect-error nothing is no proof
  const nothing = transaction(database, async (tx) => void (await insert(tx, 'silent')));
  await expect(nothing).rejects.toThrow();
  // @ts-expect-error nor is an object that looks like one
  const alike = transaction(database, async () => ({ result: 1, with: () => untold(1) }));
  await expect(alike).rejects.toThrow();
  expect(await database.prisma.role.findMany()).toEqual([]);
});

test('the proof of an event carries the result out of the transaction', async () => {
  const origin = { actor: systemActor, clock: { now: () => now } };
  const call = { traceId: null, ip: null, userAgent: null };
  const role = await transaction(database, async (tx) => {
    const created = await insert(tx, 'told');
    const told = await recordEvent(tx, { ...origin, ...call }, 'Role.Created', roleRecord(created));
    return told.with(created);
  });
  expect(role).toMatchObject({ name: 'told' });
  expect(await database.prisma.event.count({ where: { subjectId: role.id } })).toBe(1);
});
