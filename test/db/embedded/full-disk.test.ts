import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEmbeddedDatabase } from '../../../src/db/database.ts';
import { isUnreachable } from '../../../src/db/unreachable.ts';
import { closeAtEnd } from '../../support/cleanup.ts';
import {
  fetchManagementToken,
  managementRequest,
  requestClientCredentials,
} from '../../support/client-credentials.ts';
import { type ServiceProcess, startProcess } from '../../support/process.ts';
import { eventually } from '../../support/wait.ts';

const admin = { id: 'app_01h2xcejqtf2nbrexx3vqjhp41', secret: randomBytes(24).toString('hex') };

/** A file system of its own, with so many megabytes; undefined where mounting is not allowed. */
function mountSmall(megabytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'signet-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  closeAtEnd(async () => {
    execFileSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

const cannotMount = 'this user may not mount a file system';

test('a full disk is answered for, and nothing acknowledged is lost', async ({ skip }) => {
  const folder = mountSmall(160) ?? skip(cannotMount);
  const environment = {
    DATA_DIR: join(folder, 'data'),
    ADMIN_CLIENT_ID: admin.id,
    ADMIN_CLIENT_SECRET: admin.secret,
  };
  const node = startProcess(environment);
  closeAtEnd(async () => void node.child.kill('SIGKILL'));
  const url = await node.ready;
  const token = await fetchManagementToken({ url }, admin);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const acknowledged: string[] = [];
  let count = 0;
  // What it holds does not shrink when it is compressed, so the log grows by it.
  const create = async (bytes: number) => {
    count += 1;
    const username = `full_${count}`;
    const customData = { text: randomBytes(bytes).toString('hex') };
    const body = JSON.stringify({ username, customData });
    const response = await fetch(`${url}/api/users`, { method: 'POST', headers, body });
    if (response.status === 201) acknowledged.push(username);
    await response.arrayBuffer();
    return response;
  };
  const status = async (path: string) => (await fetch(`${url}${path}`)).status;
  const filler = join(folder, 'filler');
  const free = () => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  const leave = (bytes: number) => writeFileSync(filler, Buffer.alloc(free() - bytes));
  const makeRoom = async () => {
    rmSync(filler);
    rmSync(join(folder, 'last'), { force: true });
    await eventually(async () => expect(await status('/readyz')).toBe(200));
  };
  expect((await create(10)).status).toBe(201);

  // Little is left: nothing begins to write, and reading goes on.
  leave(5 * 1024 * 1024);
  await eventually(async () => expect((await create(10)).status).toBe(503), 100);
  const refused = await create(10);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await status('/healthz')).toBe(200);
  expect(await status('/readyz')).toBe(503);
  expect((await requestClientCredentials({ url }, admin, managementRequest)).status).toBe(200);
  expect((await fetch(`${url}/api/users`, { headers })).status).toBe(200);
  expect(node.stdout()).toContain('"53100"');
  await makeRoom();
  expect((await create(10)).status).toBe(201);

  // Somebody else takes all of it while writes are under way.
  leave(24 * 1024 * 1024);
  const before = count;
  let isOver = false;
  const writers = Array.from({ length: 4 }, async () => {
    while (!isOver) isOver = (await create(30_000)).status !== 201;
  });
  await eventually(() => expect(count).toBeGreaterThan(before + 8));
  leaveNothing();
  await Promise.all(writers);
  expect(await status('/healthz')).toBe(200);
  expect(await status('/readyz')).toBe(503);
  expect((await create(10)).status).toBe(503);
  await makeRoom();
  await eventually(async () => expect((await create(10)).status).toBe(201), 100);

  // Also a stop while it is full.
  leaveNothing();
  node.child.kill('SIGTERM');
  expect([0, 1]).toContain(await node.ended);
  rmSync(filler);
  rmSync(join(folder, 'last'), { force: true });
  expect(await usernames(startProcess(environment))).toEqual(expect.arrayContaining(acknowledged));

  function leaveNothing(): void {
    // The file system itself refuses what is left over.
    try {
      writeFileSync(join(folder, 'last'), Buffer.alloc(free()), { flag: 'a' });
    } catch {}
    try {
      writeFileSync(filler, Buffer.alloc(1024 * 1024), { flag: 'a' });
    } catch {}
  }
});

test('a database that finds no room for its log goes on once there is some', async ({ skip }) => {
  const folder = mountSmall(160) ?? skip(cannotMount);
  const filler = join(folder, 'filler');
  const errors: Error[] = [];
  const database = await openEmbeddedDatabase({
    dataDir: join(folder, 'database'),
    onError: (error) => void errors.push(error),
  });
  closeAtEnd(() => database.close());
  const { prisma, tokens } = database;
  await prisma.$executeRaw`CREATE TABLE "filled" ("text" text)`;
  // Not compressed: 40 MB are 40 MB.
  await prisma.$executeRaw`ALTER TABLE "filled" ALTER "text" SET STORAGE EXTERNAL`;
  await prisma.$executeRaw`INSERT INTO "filled" VALUES ('before')`;
  const { bavail, bsize } = statfsSync(folder);
  // Enough for a look, and not for the statement.
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 22 * 1024 * 1024));
  const fill = prisma.$executeRaw`
    INSERT INTO "filled" SELECT repeat('x', 100000) FROM generate_series(1, 400)`;
  const ends = await Promise.allSettled([fill, tokens.query('one', 'SELECT 1', [])]);
  expect(isUnreachable((ends[0] as PromiseRejectedResult).reason)).toBe(true);
  expect(errors.length).toBeGreaterThan(0);
  await expect(prisma.$queryRaw`SELECT 1`).rejects.toSatisfy(isUnreachable);
  await expect(tokens.query('one', 'SELECT 1', [])).rejects.toSatisfy(isUnreachable);
  await expect(prisma.$transaction((tx) => tx.$queryRaw`SELECT 1`)).rejects.toSatisfy(
    isUnreachable,
  );
  await expect(database.state()).rejects.toThrow();
  rmSync(filler);
  await eventually(async () => expect(await database.state()).toBe('ready'));
  expect(await prisma.$queryRaw`SELECT "text" FROM "filled"`).toEqual([{ text: 'before' }]);
  expect(await prisma.$executeRaw`INSERT INTO "filled" VALUES ('after')`).toBe(1);
  expect(await tokens.query('one', 'SELECT 1::int AS "one"', [])).toEqual([{ one: 1 }]);
});

async function usernames(node: ServiceProcess): Promise<string[]> {
  closeAtEnd(async () => void node.child.kill('SIGKILL'));
  const url = await node.ready;
  const authorization = `Bearer ${await fetchManagementToken({ url }, admin)}`;
  const query = `query ($after: String) { users(first: 100, after: $after) {
    edges { node { username } } pageInfo { endCursor hasNextPage } } }`;
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const response: Response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { after } }),
    });
    const { users }: { users: Page } = (await response.json()).data;
    found.push(...users.edges.map(({ node: { username } }) => username));
    if (!users.pageInfo.hasNextPage) return found;
    after = users.pageInfo.endCursor;
  }
}

interface Page {
  readonly edges: { readonly node: { readonly username: string } }[];
  readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
}
