import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useEmbedded } from '../src/db/database.ts';
import { openEmbedded } from '../src/db/embedded/open.ts';
import { kindOfId } from '../src/ids.ts';
import { createTestDatabase } from './support/database.ts';

const script = fileURLToPath(new URL('../scripts/seed.ts', import.meta.url));
// The first start makes the second part of the event log, as the migrated database has it.
const indexes = `
  SELECT indexname AS "name" FROM pg_indexes
   WHERE schemaname = 'public' AND tablename <> 'Event_1' ORDER BY 1`;

test('load data is a directory like any other', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'signet-seed-'));
  const seed = (...more: string[]) =>
    promisify(execFile)(
      process.execPath,
      [script, '--users', '300', '--organizations', '5', ...more],
      { env: { PATH: process.env['PATH'], DATA_DIR: dataDir } },
    );
  await seed();
  const { stdout } = await seed('--events', '200');
  expect(stdout).toContain('300 users and 5 organizations and 200 events');

  const database = useEmbedded(await openEmbedded({ dataDir: join(dataDir, 'database') }));
  const { prisma } = database;
  const users = await prisma.user.findMany({ orderBy: { id: 'asc' } });
  expect(users).toHaveLength(600);
  expect(users.filter(({ id }) => kindOfId(id) !== 'User')).toEqual([]);
  const organizations = await prisma.organization.findMany();
  expect(organizations).toHaveLength(10);
  expect(organizations.filter(({ id }) => kindOfId(id) !== 'Organization')).toEqual([]);
  expect(await prisma.organizationUser.count()).toBeGreaterThanOrEqual(600);
  expect(await prisma.organizationUserRole.count()).toBeGreaterThanOrEqual(600);

  const events = await prisma.event.findMany({ orderBy: { position: 'asc' } });
  expect(events).toHaveLength(200);
  expect(events.filter(({ id }) => kindOfId(id) !== 'Event')).toEqual([]);
  expect(events.map(({ occurredAt }) => occurredAt.getTime())).toEqual(
    events.map(({ occurredAt }) => occurredAt.getTime()).sort((a, b) => a - b),
  );
  const known = new Set(users.map(({ id }) => id));
  expect(events.filter(({ subjectId }) => !known.has(subjectId ?? ''))).toEqual([]);

  // The indexes that were set aside are back, as the migrations have them.
  const migrated = await createTestDatabase();
  expect(await prisma.$queryRawUnsafe(indexes)).toEqual(
    await migrated.database.prisma.$queryRawUnsafe(indexes),
  );
  await migrated.close();
  await database.close();
  await rm(dataDir, { recursive: true });
});
