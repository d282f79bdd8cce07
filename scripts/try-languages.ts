// Generates the clients of examples/from-your-language/ from the schema and from the OpenAPI document of a service that
// it starts, compiles them, and runs each: create, list, patch, and a refusal with its type. Prints a table, and fails
// where a client prints something else than it should.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as requestTo } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { startProcess } from '../test/support/process.ts';
import { root } from './documents/blocks.ts';
import {
  fileOf,
  type GeneratedClient,
  generatedClients,
  languagesFolder,
  packagesOf,
} from './documents/languages.ts';

const folder = join(root, languagesFolder);
const dataDir = await mkdtemp(join(tmpdir(), 'signet-languages-'));
const service = startProcess({ DATA_DIR: dataDir });

try {
  const signet = await service.ready;
  const token = await managementToken(signet);
  await generate(signet);
  run('npm', ['run', '--silent', 'check']);
  const outcomes = [];
  const runners = { TypeScript: { command: npmStart }, Python: python(), Java: java() };
  for (const client of generatedClients) {
    const { name, language = 'TypeScript' } = client;
    const runner = runners[language];
    if (runner) outcomes.push(await tryClient(client, runner, signet, token));
    else console.log(`${name} is left out: it is not installed for ${language}.`);
  }
  console.table(Object.fromEntries(outcomes.map(({ name, ...rest }) => [name, rest])));
  if (outcomes.some(({ result }) => result !== 'as expected')) process.exitCode = 1;
} finally {
  service.child.kill();
  await service.ended;
  await rm(dataDir, { recursive: true, force: true });
}

/** What runs the clients in a language. */
interface Runner {
  /** What starts a client; it compiles it first where its language wants that. */
  command(path: string): readonly [string, ...string[]];
  /** The version of the package that is installed for it. */
  readonly version?: string;
}

function npmStart(path: string): readonly [string, ...string[]] {
  return ['npm', 'start', '--silent', '--', path];
}

/** A Python that has graphql-core 3. */
function python(): Runner | undefined {
  const script = 'import graphql; assert graphql.version_info[0] == 3; print(graphql.version)';
  const found = ['python3', '/usr/bin/python3']
    .map((name) => ({ name, ...spawnSync(name, ['-c', script], { encoding: 'utf8' }) }))
    .find(({ status }) => status === 0);
  return found && { command: (path) => [found.name, path], version: found.stdout.trim() };
}

/** A Java that has Jackson, as Debian installs it. */
function java(): Runner | undefined {
  const jars = ['core', 'annotations', 'databind'].map(
    (name) => `/usr/share/java/jackson-${name}.jar`,
  );
  if (!jars.every((jar) => existsSync(jar)) || spawnSync('javac', ['-version']).status !== 0)
    return undefined;
  const classPath = jars.join(delimiter);
  return {
    command(path) {
      const classes = join('generated', 'classes');
      const strictly = ['-Xlint:all,-serial', '-Werror', '-d', classes];
      // It compiles what the client uses of it.
      run('javac', [...strictly, '-cp', classPath, '-sourcepath', 'generated/quicktype', path]);
      return ['java', '-cp', [classes, ...jars].join(delimiter), basename(path, '.java')];
    },
  };
}

function run(command: string, parameters: readonly string[]): void {
  try {
    execFileSync(command, parameters, { cwd: folder, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${[command, ...parameters].join(' ')}:\n${stdout}${stderr}`, { cause: error });
  }
}

async function managementToken(signet: string): Promise<string> {
  const [, id, secret] =
    /ADMIN_CLIENT_ID=(\S+)\s+ADMIN_CLIENT_SECRET=(\S+)/.exec(service.stdout()) ?? [];
  const response = await fetch(`${signet}/oidc/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: 'urn:signet:management',
      scope: 'all',
    }),
  });
  const { access_token } = (await response.json()) as { readonly access_token: string };
  return access_token;
}

async function generate(signet: string): Promise<void> {
  await rm(join(folder, 'generated'), { recursive: true, force: true });
  await mkdir(join(folder, 'generated'));
  const document = await fetch(`${signet}/api/openapi.json`);
  await writeFile(join(folder, 'openapi.json'), await document.text());
  for (const script of new Set(generatedClients.map((client) => client.generate)))
    if (script) run('npm', ['run', '--silent', script]);
}

/** Runs a client. One of the OpenAPI document goes through a proxy, which notes how it sends a patch. */
async function tryClient(client: GeneratedClient, runner: Runner, signet: string, token: string) {
  const proxy = client.source === 'document' ? await openProxy(signet) : undefined;
  const [command, ...parameters] = runner.command(join('clients', fileOf(client)));
  const child = spawn(command, parameters, {
    cwd: folder,
    env: { ...process.env, SIGNET: proxy?.url ?? signet, TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await once(child, 'close');
  proxy?.close();
  const patches = proxy?.patches ?? [];
  const isAsExpected =
    printed === `${expectedOf(client).join('\n')}\n` &&
    patches.join() === (client.patches ?? []).join();
  if (!isAsExpected) {
    console.error(`${client.name} printed:\n${printed}where this was expected:`);
    console.error(expectedOf(client).join('\n'));
    console.error(`Its patches: ${patches.join(', ')}; expected: ${client.patches?.join(', ')}`);
  }
  return {
    name: client.name,
    packages: runner.version ? `${client.name} ${runner.version}` : packagesOf(client).join(', '),
    patches: patches.join(', '),
    result: isAsExpected ? 'as expected' : 'otherwise',
  };
}

function expectedOf({
  name,
  patches,
  path = "[ 'username' ]",
  besides = [],
}: GeneratedClient): readonly string[] {
  return [
    `created ${name}`,
    'listed 1',
    `patched null ${name}@example.com`,
    ...(patches?.slice(1).map(() => `patched Ada King ${name}@example.com`) ?? []),
    `refused CONFLICT ${path}`,
    ...besides,
  ];
}

async function openProxy(signet: string) {
  const patches: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request;
    if (method === 'PATCH') patches.push(headers['content-type']);
    const onward = requestTo(new URL(url, signet), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, patches, close };
}
