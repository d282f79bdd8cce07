import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { pino } from 'pino';
import { systemClock } from '../src/clock.ts';
import { openPostgresql } from '../src/db/database.ts';
import { newId } from '../src/ids.ts';
import { seedDirectory } from '../test/support/operations/directory.ts';
import { createReaders } from './readers.ts';
import { announce } from './server.ts';

// The least work of a mutation: the same two rows in the same tables, in one transaction, by prepared statements. And of
// a query: the same rows as JSON. Without rules, tokens or readers of the events.

const url = process.env['DATABASE_URL'] ?? '';
const log = pino({ level: 'info' }, pino.destination('/dev/null'));
const database = openPostgresql({
  url,
  poolSize: 2,
  tokenPoolSize: 2,
  onError: (err) => log.warn({ err }),
});
await database.migrate();
const users = await createReaders(seedDirectory(database, systemClock));
await database.prisma.$executeRaw`ANALYZE`;
await database.close();

const pool = new pg.Pool({ connectionString: url, max: 10 });
const actor = JSON.stringify({ type: 'APPLICATION', id: 'app_01h455vb4pex5vsknk084sn02q' });
const columns = `"id", "username", "primaryEmail", "primaryPhone", "name", "avatar", "profile", "customData",
  "isSuspended", "createdAt", "updatedAt"`;

interface Asked {
  readonly id?: string;
  readonly username?: string;
  readonly name?: string;
}

const writes: Record<string, (asked: Asked) => pg.QueryConfig> = {
  createUser: ({ username, name }) => ({
    name: 'create',
    text: `INSERT INTO "User" ("id", "username", "name", "createdAt", "updatedAt")
           VALUES ($1, $2, $3, now(), now()) RETURNING ${columns}`,
    values: [newId('User'), username, name],
  }),
  updateUser: ({ id, name }) => ({
    name: 'update',
    text: `UPDATE "User" SET "name" = $2, "updatedAt" = now() WHERE "id" = $1 RETURNING ${columns}`,
    values: [id, name],
  }),
};

const reads: Record<string, (asked: Asked) => pg.QueryConfig> = {
  user: ({ id }) => ({
    name: 'user',
    text: `SELECT u."id", u."username", u."name", u."createdAt",
                  (SELECT json_agg(json_build_object('id', r."id", 'name', r."name"))
                     FROM "UserRole" h JOIN "Role" r ON r."id" = h."roleId" WHERE h."userId" = u."id") AS "roles"
             FROM "User" u WHERE u."id" = $1`,
    values: [id],
  }),
  users: () => ({
    name: 'users',
    text: `SELECT "id", "username", "name", "createdAt" FROM "User" ORDER BY "createdAt" DESC, "id" DESC LIMIT 21`,
    values: [],
  }),
};

async function write(type: string, statement: pg.QueryConfig): Promise<unknown> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const {
      rows: [row],
    } = await client.query(statement);
    await client.query({
      name: 'event',
      text: `INSERT INTO "Event" ("id", "type", "subjectId", "actor", "actorId", "data", "traceId", "occurredAt")
             VALUES ($1, $2, $3, $4, 'app_01h455vb4pex5vsknk084sn02q', $5, $1, now())`,
      values: [newId('Event'), type, row.id, actor, JSON.stringify(row)],
    });
    await client.query('COMMIT');
    return row;
  } finally {
    client.release();
  }
}

async function answer(path: string, asked: Asked): Promise<unknown> {
  const change = writes[path];
  if (change) return write(path, change(asked));
  const read = reads[path];
  if (!read) throw new Error(`Nothing answers ${path}.`);
  return (await pool.query(read(asked))).rows;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const { operationName, variables } = JSON.parse(Buffer.concat(chunks).toString()) as {
      operationName: string;
      variables: { input?: Asked } & Asked;
    };
    const body = JSON.stringify({
      data: await answer(operationName, variables.input ?? variables),
    });
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      .end(body);
  });
});
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
process.once('SIGTERM', () => process.exit(0));

announce({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  path: '/',
  headers: { 'content-type': 'application/json' },
  bodies: users,
});
