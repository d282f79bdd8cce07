// Writes test/fixtures/release: the data that a release leaves, with which test/start/release.test.ts starts the code of
// today, and its code, which test/operating/upgrade.test.ts starts beside that of today.
// `node scripts/keep-release.ts <commit> postgres://…` needs pg_dump and a new, empty cluster: the numbers of its
// transactions are low, so the events can be loaded anywhere and keep their cursors.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const [, , commit, server] = process.argv;
if (!commit || !server) {
  console.error('usage: node scripts/keep-release.ts <commit> <URL of a new PostgreSQL>');
  process.exit(1);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'signet-release-'));
const run = (command: string, args: readonly string[], cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1e9 });
const secret = 'what the data of a release is sealed with';

/** Runs the release until it is told to stop. */
async function withRelease<T>(
  work: (at: { url: string; id: string; secret: string }) => Promise<T>,
): Promise<T> {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: folder,
    env: {
      ...process.env,
      DATABASE_URL: server,
      SIGNET_SECRET: secret,
      PORT: '0',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const over = new Promise((resolve) => child.once('exit', resolve));
  const found: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name, value] = /ADMIN_CLIENT_(ID|SECRET)=(\S+)/.exec(line) ?? [];
    if (name && value) found[name] = value;
    if (line.includes('Signet is ready')) {
      found['url'] = (JSON.parse(line) as { listening: string }).listening;
      break;
    }
  }
  try {
    const { url = '', ID: id = '', SECRET: of = '' } = found;
    return await work({ url, id, secret: of });
  } finally {
    child.kill('SIGTERM');
    await over;
  }
}

try {
  run('git', ['worktree', 'add', '--detach', folder, commit], root);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  run(process.execPath, ['scripts/write-generated.js']);
  const kept = await withRelease(async (at) => {
    const token = await fetch(`${at.url}/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: at.id,
        client_secret: at.secret,
        resource: 'urn:signet:management',
        scope: 'all',
      }),
    });
    const { access_token: bearer } = (await token.json()) as { access_token: string };
    const call = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${at.url}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return JSON.parse(text || 'null');
    };
    // Nobody listens there: the deliveries stay pending.
    const hook = await call('POST', '/webhooks', {
      name: 'Billing',
      url: 'http://127.0.0.1:9/',
      events: ['USER_CREATED'],
    });
    const role = await call('POST', '/roles', { name: 'auditor', type: 'USER' });
    const users = [];
    for (const username of ['ada', 'grace', 'edsger', 'barbara', 'donald']) {
      users.push(
        await call('POST', '/users', { username, password: `the password of ${username}` }),
      );
    }
    await call('POST', '/organizations', { name: 'Mathematicians' });
    const events = await call('GET', '/events?first=100');
    return { admin: { id: at.id, secret: at.secret }, hook, role, users, events };
  });
  const out = new URL('../test/fixtures/release/', import.meta.url);
  mkdirSync(out, { recursive: true });
  const dump = run('pg_dump', ['--inserts', '--no-owner', '--no-privileges', server], root);
  // Only psql knows the lines that begin with a backslash.
  writeFileSync(
    new URL('data.sql.gz', out),
    gzipSync(dump.replaceAll(/^\\.*$/gm, ''), { level: 9 }),
  );
  writeFileSync(
    new URL('release.json', out),
    `${JSON.stringify({ commit: run('git', ['rev-parse', 'HEAD']).trim(), secret, ...kept }, null, 2)}\n`,
  );
  // All that a start needs beside the packages.
  const needed = [
    'package.json',
    'prisma',
    'prisma.config.ts',
    'scripts/write-generated.js',
    'src',
  ];
  const code = execFileSync('git', ['archive', commit, ...needed], { cwd: root, maxBuffer: 1e9 });
  writeFileSync(new URL('code.tar.br', out), brotliCompressSync(code));
} finally {
  run('git', ['worktree', 'remove', '--force', folder], root);
  rmSync(folder, { recursive: true, force: true });
}
