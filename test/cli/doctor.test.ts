import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { doctor } from '../../src/cli/doctor/doctor.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { systemClock } from '../../src/clock.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createDataDir, createProcessDatabase } from '../support/database.ts';
import { freePort } from '../support/peers/free-port.ts';
import { startMailServer } from '../support/peers/mail-server.ts';
import { startCollector } from '../support/peers/otlp-collector.ts';
import { administer } from '../support/peers/postgresql/administer.ts';
import { pgbouncerMissing, startPgbouncer } from '../support/peers/postgresql/pgbouncer.ts';
import { useMailServer } from '../support/people/messages.ts';
import { runSignet, startProcess } from '../support/process.ts';

const secret = 'Xq3vT9-another-secret-for-tests-0bZ1';

interface Examination {
  readonly code: number;
  readonly text: string;
  /** What was found about each thing, in one line. */
  readonly told: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
}

/** Runs `signet doctor` in this process. */
async function examine(
  environment: Record<string, string>,
  parameters: readonly string[] = ['--stopped'],
): Promise<Examination> {
  const stdout = new PassThrough();
  const code = await doctor.run([...parameters, '--json'], {
    environment,
    stdin: process.stdin,
    // A stream that takes the text is all that it needs.
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: process.stderr,
  });
  const text = String(stdout.read());
  const { findings } = JSON.parse(text) as { findings: Finding[] };
  const told: Record<string, string> = {};
  for (const { check, state, message } of findings) {
    told[check] = [told[check], `${state}: ${message}`].filter(Boolean).join(' | ');
  }
  const faults = findings.filter(({ state }) => state === 'fault').map(({ check }) => check);
  for (const { state, advice } of findings) {
    if (state === 'fault' || state === 'warning') expect(advice).toBeTruthy();
  }
  return { code, text, told, faults };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

describe('a running service', async () => {
  const database = await createProcessDatabase();
  const environment = { ...database, SIGNET_SECRET: secret, ALLOW_PRIVATE_WEBHOOKS: 'true' };
  const node = startProcess(environment);
  closeAtEnd(async () => {
    node.child.kill('SIGTERM');
    await node.ended;
  });
  const { port } = new URL(await node.ready);
  const [, id = '', adminSecret = ''] =
    /ADMIN_CLIENT_ID=(\S+)\s+ADMIN_CLIENT_SECRET=(\S+)/.exec(node.stdout()) ?? [];
  const own = { ...environment, PORT: port };
  const ofTests = {
    durability: expect.stringMatching(
      /^fault: (fsync|synchronous_commit) is off: a crash loses what was acknowledged\.$/,
    ),
  };
  const onPostgresql = test.runIf(inject('postgresql'));

  test('is well, by the command', async () => {
    const { code, stdout, stderr } = await runSignet(['doctor'], { environment: own });
    expect(stderr).toBe('');
    // The databases of tests need not survive a crash.
    expect(code).toBe(inject('postgresql') ? 1 : 0);
    expect(stdout).toMatch(/^ok {7}public URL +Discovery answers at http:\/\/localhost:/m);
    expect(stdout).toMatch(/^ok {7}sockets +WebSockets get through\.$/m);
    expect(stdout).toContain(inject('postgresql') ? '\n1 fault.\n' : '\nNothing is wrong.\n');
    expect(stdout).not.toContain(secret);
  });

  onPostgresql('says what it is on', async () => {
    const { told, faults } = await examine(own, []);
    expect(faults).toEqual(['durability']);
    expect(told).toMatchObject({
      ...ofTests,
      DATABASE_URL: 'ok: It answers, and takes writes.',
      'database version': expect.stringMatching(/^ok: PostgreSQL \d+/),
      rights: 'ok: The role may migrate the database.',
      extensions: expect.stringMatching(/^ok: pg_trgm .* is there\.$/),
      clock: 'ok: This machine and the database have the same time.',
      migrations: 'ok: The database fits this version.',
      secret: 'ok: It fits the database.',
      'sender of EMAIL': expect.stringMatching(/^warning: There is none/),
    });
  });

  onPostgresql('with another secret, a wrong clock, or a later version’s migrations', async () => {
    const other = await examine({ ...own, SIGNET_SECRET: secret.toLowerCase() });
    expect(other.faults).toEqual(['durability', 'secret']);
    expect(other.text).not.toContain(secret.toLowerCase());

    const ahead = vi
      .spyOn(systemClock, 'now')
      .mockImplementation(() => new Date(Date.now() + 7_000));
    onTestFinished(() => ahead.mockRestore());
    const { told } = await examine(own);
    expect(told['clock']).toMatch(
      /^fault: The database’s clock is [67]\.\d s behind this machine’s\.$/,
    );
    ahead.mockRestore();

    const client = new pg.Client({ connectionString: database['DATABASE_URL'] });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "finished_at")
                        VALUES ('later', '', '29990101000000_later', now())`);
    expect((await examine(own)).told['migrations']).toMatch(/^warning: A later version/);
    await client.query(`UPDATE "_prisma_migrations" SET "finished_at" = NULL WHERE "id" = 'later'`);
    expect((await examine(own)).told['migrations']).toBe(
      'fault: The migration 29990101000000_later did not end.',
    );
    await client.query(`DELETE FROM "_prisma_migrations" WHERE "id" = 'later'`);
  });

  onPostgresql('names settings of sessions that differ from the service’s', async () => {
    const url = database['DATABASE_URL'] ?? '';
    const name = new URL(url).pathname.slice(1);
    await administer(url, `ALTER DATABASE "${name}" SET TimeZone = 'Asia/Kolkata'`);
    onTestFinished(() => administer(url, `ALTER DATABASE "${name}" RESET TimeZone`));
    const { told, faults } = await examine(own);
    expect(told['settings']).toMatch(/^ok: .* sets (.*, )?TimeZone = Asia\/Kolkata[,;]/);
    expect(faults).toEqual(['durability']);
  });

  onPostgresql('with a mail server that is there, refuses the user, or is gone', async () => {
    const token = await fetchManagementToken(
      { url: await node.ready },
      { id, secret: adminSecret },
    );
    const endpoint = { url: await node.ready, token };
    const mail = await startMailServer();
    await useMailServer(endpoint, { port: mail.port });
    // The service would refuse it too.
    const strict = await examine({ ...own, ALLOW_PRIVATE_WEBHOOKS: 'false' });
    expect(strict.told['sender of EMAIL']).toMatch(/^fault: .* public address\.$/);
    expect((await examine(own)).told['sender of EMAIL']).toBe(
      'ok: The mail server lets this user in.',
    );
    expect(mail.received).toEqual([]);
    await mail.close();
    const gone = await examine(own);
    expect(gone.told['sender of EMAIL']).toBe(
      'fault: The mail server cannot be used: nothing listens there.',
    );
  });

  onPostgresql('with a role that may not migrate, or a database that is not there', async () => {
    const url = new URL(database['DATABASE_URL'] ?? '');
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    const role = `signet_guest_${Math.random().toString(36).slice(2)}`;
    await client.query(`CREATE ROLE "${role}" LOGIN`);
    onTestFinished(async () => {
      await client.query(`DROP ROLE "${role}"`);
      await client.end();
    });
    const guest = new URL(url);
    guest.username = role;
    const { told } = await examine({ ...own, DATABASE_URL: guest.href });
    expect(told['rights']).toMatch(
      /^fault: The role may not create tables .*, and does not own \d+/,
    );
    const nowhere = new URL(url);
    nowhere.pathname = '/signet_nowhere';
    nowhere.password = 'hunter2';
    const { code, told: of, text } = await examine({ ...own, DATABASE_URL: nowhere.href });
    expect(code).toBe(1);
    expect(of['DATABASE_URL']).toBe('fault: It cannot be reached: it has no such database.');
    expect(text).not.toContain('hunter2');
  });

  test.runIf(inject('postgresql') && !pgbouncerMissing)('behind a pooler', async () => {
    const direct = database['DATABASE_URL'] ?? '';
    const pooler = await startPgbouncer(direct, 'transaction', 3);
    onTestFinished(pooler.close);
    const told = async (variables: Record<string, string>) =>
      (await examine({ ...own, ...variables })).told['pooler'];
    expect(await told({ DATABASE_URL: pooler.url })).toMatch(/^fault: DATABASE_URL leads through/);
    expect(await told({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: direct })).toMatch(/^ok: /);
    expect(await told({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: pooler.url })).toMatch(
      /^fault: DATABASE_DIRECT_URL leads through/,
    );
    expect(await told({ DATABASE_DIRECT_URL: direct })).toMatch(
      /^warning: DATABASE_DIRECT_URL is set/,
    );
    const other = new URL(direct);
    other.pathname = '/postgres';
    expect(await told({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: other.href })).toMatch(
      /^fault: .* lead to different databases\.$/,
    );
  });

  test('at a URL that is not its own, or is somebody else’s', async () => {
    const told = async (BASE_URL: string) => (await examine({ ...own, BASE_URL }, [])).told;
    expect((await told(`http://127.0.0.1:${port}`))['public URL']).toMatch(
      /^fault: Discovery at .* names the issuer http:\/\/localhost:/,
    );
    const nobody = `http://127.0.0.1:${await freePort()}`;
    expect((await told(nobody))['public URL']).toBe(
      `fault: ${nobody} cannot be reached from here: nothing listens there.`,
    );
    // A proxy that passes on no WebSockets, in front of a service with other keys.
    const proxy = createHttpServer((request, response) => {
      const issuer = `http://${request.headers.host}/oidc`;
      if (request.url?.startsWith('/moved'))
        response.writeHead(301, { location: 'https://id.example.com/x' });
      response.end(
        JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks`, keys: [{ kid: 'other' }] }),
      );
    });
    const at = `http://127.0.0.1:${await listening(proxy)}`;
    const found = await told(at);
    expect(found).toMatchObject({
      'public URL': expect.stringMatching(/^ok: /),
      sockets: 'fault: WebSockets do not get through: Unexpected server response: 200.',
      ...(inject('postgresql') && {
        keys: expect.stringMatching(/^fault: .* not those of this database/),
      }),
    });
    expect((await told(`${at}/moved`))['public URL']).toMatch(
      /^fault: .*\/moved leads on to https:\/\/id\.example\.com\.$/,
    );
  });
});

test('names each variable at fault, and no value', async () => {
  const { code, told, text } = await examine({
    PORT: 'x',
    DATABASE_URL: 'mysql://root:hunter2@db',
  });
  expect(code).toBe(1);
  expect(told['configuration']).toMatch(
    /^fault: PORT .* \| fault: DATABASE_URL must be a postgres/,
  );
  expect(text).not.toContain('hunter2');
});

test('warns of a public URL without TLS, a proxy that is not trusted, and open webhooks', async () => {
  const told = async (variables: Record<string, string>) =>
    (await examine({ DATA_DIR: '/tmp', ...variables })).told['configuration'];
  expect(await told({ BASE_URL: 'http://id.example.com' })).toMatch(
    /warning: BASE_URL is not https/,
  );
  expect(await told({ BASE_URL: 'https://id.example.com' })).toMatch(/TRUST_PROXY is false/);
  expect(
    await told({
      BASE_URL: 'https://id.example.com',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      TRUST_PROXY: '1',
    }),
  ).toMatch(/ok: Every variable is sound\. \| warning: ALLOW_PRIVATE_WEBHOOKS/);
});

test('a database that does not answer is told without its password', async () => {
  const { code, told, text } = await examine({
    DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/none',
    SIGNET_SECRET: secret,
  });
  expect(code).toBe(1);
  expect(told['DATABASE_URL']).toBe('fault: It cannot be reached: nothing listens there.');
  expect(text).not.toMatch(/hunter2|another-secret/);
});

test('a data folder that cannot be used', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signet-doctor-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'file');
  await writeFile(file, '');
  for (const DATA_DIR of [file, join(file, 'below')]) {
    expect((await examine({ DATA_DIR })).told['data folder']).toMatch(/^fault: .* is no folder/);
  }
});

test.runIf(!inject('postgresql'))('the database of a folder whose service is stopped', async () => {
  const dataDir = await createDataDir();
  const fresh = await examine({ DATA_DIR: dataDir });
  expect(fresh.told).toMatchObject({
    'data folder': `ok: ${dataDir} can be written.`,
    disk: expect.stringMatching(/^(ok|warning): The volume of DATA_DIR has/),
    migrations: 'ok: The database fits this version.',
    secret: 'skipped: There is none yet.',
  });
  const node = startProcess({ DATA_DIR: dataDir });
  await node.ready;
  const running = await examine({ DATA_DIR: dataDir });
  expect(running.told['contents']).toMatch(/^skipped: .* in use by another process/);
  node.child.kill('SIGTERM');
  await node.ended;
  expect((await examine({ DATA_DIR: dataDir })).told['secret']).toBe('ok: It fits the database.');
  const wrong = await examine({ DATA_DIR: dataDir, SIGNET_SECRET: secret });
  expect(wrong.told['secret']).toMatch(/^fault: SIGNET_SECRET is not the one/);
});

test('the event sink and the collector', async () => {
  const told = async (variables: Record<string, string>) =>
    (await examine({ DATA_DIR: join(tmpdir(), 'signet-nowhere'), ...variables })).told;
  const nats = createServer((socket) => socket.end('INFO {"jetstream":true}\r\n'));
  const bare = createServer((socket) => socket.end('INFO {}\r\n'));
  const sink = async (server: Server) =>
    (await told({ EVENT_SINK_URL: `nats://127.0.0.1:${await listening(server)}` }))['event sink'];
  expect(await sink(nats)).toBe('ok: A NATS server with JetStream answers.');
  expect(await sink(bare)).toBe('fault: The NATS server has no JetStream.');
  expect((await told({ EVENT_SINK_URL: 'nats://127.0.0.1:1' }))['event sink']).toMatch(/^fault: /);

  const { url } = await startCollector();
  const telemetry = async (variables: Record<string, string>) =>
    (await told(variables))['telemetry'];
  expect(await telemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: url })).toMatch(/^ok: The collector at /);
  const nobody = `127.0.0.1:${await freePort()}`;
  expect(await telemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://${nobody}` })).toBe(
    `fault: The collector at ${nobody} cannot be reached: nothing listens there.`,
  );
  expect(
    await telemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }),
  ).toMatch(/^fault: OTEL_EXPORTER_OTLP_PROTOCOL must be one of http\/protobuf/);
});
