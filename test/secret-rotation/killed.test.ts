import { expect, test } from 'vitest';
import { type Database, openEmbeddedDatabase, openPostgresql } from '../../src/db/database.ts';
import { newId } from '../../src/ids.ts';
import { createSealing } from '../../src/keys/cipher.ts';
import { purposeOf } from '../../src/keys/sealed-columns.ts';
import { createProcessDatabase, failOnError } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { readSealedValues } from '../support/secrets/sealed-rows.ts';
import { eventually } from '../support/wait.ts';

const before = 'the secret of before, for tests only';
const coming = 'the coming secret, for tests only as well';
const database = await createProcessDatabase();
const moved = { SIGNET_SECRET: coming, SIGNET_SECRET_PREVIOUS: before, LOG_LEVEL: 'debug' };
const count = 4_000;

/** Works with the database while no process has it. */
async function between<T>(work: (opened: Database) => Promise<T>): Promise<T> {
  const { DATABASE_URL: url, DATA_DIR: dataDir } = database;
  const opened =
    url === undefined
      ? await openEmbeddedDatabase({ dataDir: `${dataDir}/database`, onError: failOnError })
      : openPostgresql({ url, poolSize: 2, tokenPoolSize: 1, onError: failOnError });
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

const start = (environment: Record<string, string>) =>
  startProcess({ ...database, ...environment });

/** The secrets of authenticator apps, as the person has them. */
async function readSecrets(...secrets: [string, string?]): Promise<string[]> {
  const sealing = createSealing(...secrets);
  const values = await between((opened) => readSealedValues({ database: opened }));
  const open = values.map(({ kind, owner, sealed }) => ({
    kind,
    text: sealing.decrypt(sealed, purposeOf(kind, owner)),
  }));
  return open.filter(({ kind }) => kind === 'totp').map(({ text }) => text);
}

test('a node that is killed while it encrypts anew leaves everything readable, and another goes on', async () => {
  const first = start({ SIGNET_SECRET: before });
  await first.ready;
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  const sealing = createSealing(before);
  const createdAt = new Date();
  const expected = Array.from({ length: count }, (_, index) => `secret ${index}`).sort();
  await between(async ({ prisma }) => {
    const userId = newId('User');
    await prisma.user.create({ data: { id: userId, createdAt, updatedAt: createdAt } });
    await prisma.userFactor.createMany({
      data: expected.map((secret) => {
        const id = newId('UserFactor');
        const sealed = sealing.encrypt(secret, purposeOf('totp', id));
        return { id, userId, type: 'TOTP' as const, createdAt, secret: sealed };
      }),
    });
  });

  const killed = start(moved);
  await eventually(() => expect(killed.stdout()).toContain('"table":"UserFactor"'), 1);
  killed.child.kill('SIGKILL');
  expect(await killed.ended).toBe('SIGKILL');
  expect((await readSecrets(before, coming)).sort()).toEqual(expected);
  await expect(readSecrets(coming)).rejects.toThrow();
  await expect(readSecrets(before)).rejects.toThrow();

  const next = start(moved);
  const url = await next.ready;
  await eventually(async () =>
    expect(await (await fetch(`${url}/readyz`)).text()).toContain(': re-encrypted'),
  );
  next.child.kill('SIGTERM');
  expect(await next.ended).toBe(0);
  // Names are told apart only beside another secret.
  expect((await readSecrets(coming, 'any other secret')).sort()).toEqual(expected);
  const last = start({ SIGNET_SECRET: coming });
  // The node that was killed is still listed, with another port.
  expect(await (await fetch(`${await last.ready}/readyz`)).text()).toMatch(
    /^ready\n(other processes differ in: BASE_URL\n)?$/,
  );
  last.child.kill('SIGTERM');
  expect(await last.ended).toBe(0);
});
