// Runs the shell blocks of README and then of each page of docs/, as a reader would paste them: in a fresh copy of this
// project, in order, each page in one shell. A failed block, or one that is answered with an error, ends the run. Only
// the ports are replaced, so that none is in use. Words behind `sh` say how a block runs:
//
//   server      in a separate terminal that stays open; the lines that the first start prints are pasted
//   stopped     after every server is stopped
//   python      if there is a Python with PyJWT
//   postgresql  if TEST_DATABASE_URL names one; DATABASE_URL then names a new database
//   docker      if there is a Docker engine
//   elsewhere   never: it is for a server that no reader of this page has at hand
//
// With `--installed` it uses the installed packages, which is quicker.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { administer } from '../test/support/peers/postgresql/administer.ts';
import { type Block, blocksOf, pages, projectFiles, root } from './documents/blocks.ts';

const blockTimeoutMs = 10 * 60 * 1000;
const isInstalled = process.argv.includes('--installed');
const folder = await mkdtemp(join(tmpdir(), 'signet-documents-'));
const copy = join(folder, 'signet');
const ports = new Map<string, string>();
const python = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import jwt, cryptography']).status === 0,
);
const hasDocker = spawnSync('docker', ['info']).status === 0;
const databaseUrl = process.env['TEST_DATABASE_URL'];
const databaseName = `signet_documents_${process.pid}`;
const environment = await readerEnvironment();

const servers: ChildProcess[] = [];
let pasted = '';

try {
  for (const file of projectFiles()) await cp(join(root, file), join(copy, file));
  if (isInstalled) {
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    await cp(join(root, 'src/generated'), join(copy, 'src/generated'), { recursive: true });
  }
  if (databaseUrl) await administer(databaseUrl, `CREATE DATABASE "${databaseName}"`);
  for (const page of pages()) {
    const blocks = blocksOf(page).filter(({ language }) => language === 'sh');
    if (blocks.length > 0) await runPage(page, blocks);
  }
} finally {
  await stopServers();
  if (databaseUrl)
    await administer(databaseUrl, `DROP DATABASE IF EXISTS "${databaseName}" WITH (FORCE)`);
  await rm(folder, { recursive: true, force: true });
}

/**
 * A reader's environment: without the Node of this project, which npm puts first for its scripts. What it trusts beside
 * public authorities belongs to the machine: npm needs it for its registry.
 */
async function readerEnvironment(): Promise<NodeJS.ProcessEnv> {
  const own =
    /^(npm_|ADMIN_CLIENT_|DATABASE_URL|SIGNET_|BASE_URL|DATA_DIR|NODE_(?!EXTRA_CA_CERTS$))/;
  const bin = join(folder, 'bin');
  await mkdir(bin);
  if (python) await symlink(await pathOf(python), join(bin, 'python3'));
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !entry.includes('node_modules'));
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))),
    PATH: [bin, ...(isInstalled ? [join(copy, 'node_modules/.bin')] : []), ...path].join(delimiter),
    PORT: await portFor('3000'),
  };
}

async function pathOf(name: string): Promise<string> {
  const { stdout } = spawnSync(name, ['-c', 'import sys; print(sys.executable)']);
  return stdout.toString().trim();
}

async function runPage(page: string, blocks: readonly Block[]): Promise<void> {
  const shell = openShell();
  // A reader of docs/ has done the first steps of README.
  if (page !== 'README.md') {
    await shell.run(`${pasted}\nexport ADMIN_CLIENT_ID ADMIN_CLIENT_SECRET\n`);
  }
  for (const block of blocks) {
    const name = `${page}:${block.line}`;
    const words = new Set(block.words);
    const lacking = whatIsLacking(words);
    console.log(lacking ? `left out  ${name}: ${lacking}` : `runs      ${name}`);
    if (lacking) continue;
    const given = words.has('postgresql') ? `DATABASE_URL=${ownDatabaseUrl()}\n` : '';
    const text = given + (await withOwnPorts(block.text));
    if (words.has('stopped')) await stopServers();
    if (words.has('server')) {
      const printed = await startServer(isInstalled ? text.replace('npm ci && ', '') : text);
      const lines = [...printed.matchAll(/^ *(ADMIN_CLIENT_(?:ID|SECRET)=\S+)$/gm)];
      if (lines.length > 0) pasted = lines.map(([, line]) => line).join('\n');
      await shell.run(pasted);
    } else {
      refuseErrors(name, await shell.run(text));
    }
  }
  await shell.close();
}

function whatIsLacking(words: ReadonlySet<string>): string | undefined {
  if (words.has('elsewhere')) return 'it is for another machine';
  if (words.has('docker') && !hasDocker) return 'there is no Docker engine';
  if (words.has('python') && !python) return 'there is no Python with PyJWT';
  if (words.has('postgresql') && !databaseUrl) return 'TEST_DATABASE_URL is not set';
  return undefined;
}

/** A shell that exits at the first failed command. */
function openShell() {
  const child = spawn('bash', ['-e', '-s'], { cwd: copy, env: environment });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.pipe(process.stderr, { end: false });
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let blocks = 0;
  return {
    async run(text: string): Promise<string> {
      blocks += 1;
      const end = `-- end of block ${blocks} --`;
      const start = output.length;
      // A pipe whose reader stops early, such as head, is no failure, so only its last command counts.
      child.stdin.write(`${text}\nprintf '\\n%s\\n' '${end}'\n`);
      const timeout = AbortSignal.timeout(blockTimeoutMs);
      while (!output.includes(end, start)) {
        const more = once(child.stdout, 'data', { signal: timeout }).then(() => 'more');
        more.catch(() => undefined);
        const next = await Promise.race([more, ended]);
        if (next !== 'more' && !output.includes(end, start)) {
          throw new Error(`A block ended with ${next}:\n${text}\n${output.slice(start)}`);
        }
      }
      return output.slice(start).replace(end, '').trimEnd();
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

async function startServer(text: string): Promise<string> {
  const server = spawn('bash', ['-e', '-c', text], {
    cwd: copy,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  servers.push(server);
  let output = '';
  const timeout = AbortSignal.timeout(blockTimeoutMs);
  const ended = once(server, 'close').then(() => 'ended');
  while (!/is ready|listens on/.test(output)) {
    const more = once(server.stdout, 'data', { signal: timeout });
    more.catch(() => undefined);
    const next = await Promise.race([more, ended]);
    if (next === 'ended') throw new Error(`The server does not start:\n${output}`);
    output += String((next as Buffer[])[0]);
  }
  server.stdout.resume();
  return output;
}

async function stopServers(): Promise<void> {
  for (const server of servers.splice(0)) {
    if (!server.pid || server.exitCode !== null || server.signalCode !== null) continue;
    const ended = once(server, 'close');
    // The whole terminal, as when its window is closed.
    process.kill(-server.pid);
    await ended;
  }
}

// curl exits with 0 for any answer.
function refuseErrors(name: string, output: string): void {
  const error =
    /"errors" ?:|"error" ?: ?(?!null)|"__typename" ?: ?"\w+Error"|"type" ?: ?"urn:signet:problem/.exec(
      output,
    );
  if (error) throw new Error(`${name} is answered with an error:\n${output}`);
}

async function withOwnPorts(text: string): Promise<string> {
  const named = text.matchAll(/\b(?:localhost:|PORT=)(\d{4})\b/g);
  for (const [, port = ''] of named) await portFor(port);
  return text.replaceAll(
    /\b(localhost:|PORT=)(\d{4})\b/g,
    (_, before: string, port: string) => `${before}${ports.get(port)}`,
  );
}

async function portFor(named: string): Promise<string> {
  const known = ports.get(named);
  if (known) return known;
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  ports.set(named, String(port));
  return String(port);
}

function ownDatabaseUrl(): string {
  const url = new URL(databaseUrl ?? '');
  url.pathname = `/${databaseName}`;
  return url.href;
}
