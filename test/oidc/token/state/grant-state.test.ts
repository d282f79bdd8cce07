import { expect, test } from 'vitest';
import type { Sql } from '../../../../src/db/sql.ts';
import { newId } from '../../../../src/ids.ts';
import { readClientState, readSubjectState } from '../../../../src/oidc/token/grant-state.ts';
import { targetOf } from '../../../../src/permissions/target.ts';
import { seedDirectory } from '../../../support/operations/directory.ts';
import { startService } from '../../../support/service.ts';

const { app, clock } = await startService();
const { database } = app.services;
const directory = seedDirectory(database, clock);
const orders = await directory.createResource(['read', 'write'], { accessTokenTtlSeconds: 99 });
const target = targetOf(orders.indicator, undefined);
const clients = [
  await directory.createClient({ allowTokenExchange: true }),
  await directory.createClient({
    type: 'MACHINE_TO_MACHINE',
    exchangeResources: ['urn:a', 'urn:b'],
  }),
].map(({ id }) => id);
const frontend = await directory.createClient({ type: 'SPA' });
const thirdParty = await directory.createClient({ isThirdParty: true });
const [gone, user, stranger] = [newId('Application'), newId('User'), newId('User')];
const reader = await directory.createUser();
await directory.allowUser(reader, orders, ['read']);

let statements = 0;
const sql: Sql = {
  query(...of) {
    statements += 1;
    return database.tokens.query(...of);
  },
};

/** Asks one after the other, then all in one statement, and expects the same answers. */
async function sameTogether<T>(asking: readonly (() => Promise<T>)[]): Promise<T[]> {
  const alone: T[] = [];
  for (const ask of asking) alone.push(await ask());
  expect(statements).toBe(asking.length);
  expect(await Promise.all(asking.map((ask) => ask()))).toEqual(alone);
  expect(statements).toBe(asking.length + 1);
  statements = 0;
  return alone;
}

test('requests that share a statement get what each gets alone, whatever it has in common with others', async () => {
  const asked = [...clients, gone, 'none'].flatMap((clientId) =>
    [
      { client_id: frontend.id },
      { client_id: thirdParty.id, lineage: [frontend.id] },
      { client_id: frontend.id, act: { sub: gone } },
      { client_id: 'none' },
    ].flatMap((claims) =>
      [reader.id, stranger].map((sub) => ({ clientId, claims: { ...claims, sub, jti: user } })),
    ),
  );
  const answers = await sameTogether(
    asked.map(
      ({ clientId, claims }) =>
        () =>
          readSubjectState(sql, { clientId, at: clock.now(), target, scopes: ['read'] }, claims),
    ),
  );
  for (const [i, { clientId, claims }] of asked.entries()) {
    const isThirdParty = claims.client_id === thirdParty.id;
    expect(answers[i]).toMatchObject({
      exchangeResources: [[], ['urn:a', 'urn:b']][clients.indexOf(clientId)] ?? null,
      secrets: clients.includes(clientId) ? [expect.any(String)] : [],
      ttlSeconds: 99,
      scopes: claims.sub === reader.id ? ['read'] : [],
      userId: claims.sub === reader.id ? reader.id : null,
      clientsExist: claims.client_id !== 'none' && !('act' in claims),
      thirdParties: isThirdParty ? [thirdParty.id] : [],
    });
    expect(answers[i]?.subjectSetters).toHaveLength(
      claims.client_id === 'none' ? 0 : isThirdParty ? 2 : 1,
    );
  }
});

test('so do clients that ask for themselves', async () => {
  const answers = await sameTogether(
    [...clients, ...clients, gone, 'none'].map(
      (clientId) => () =>
        readClientState(sql, { clientId, at: clock.now(), target, scopes: ['read'] }),
    ),
  );
  expect(answers.map(({ exchangeResources }) => exchangeResources)).toEqual([
    [],
    ['urn:a', 'urn:b'],
    [],
    ['urn:a', 'urn:b'],
    null,
    null,
  ]);
});
