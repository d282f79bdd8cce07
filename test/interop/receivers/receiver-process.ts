import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/peers/free-port.ts';
import { eventually } from '../../support/wait.ts';
import {
  areInstalled,
  filesOf,
  pathOf,
  pythonWith,
  type RunningProgram,
  startProgram,
} from '../example-process.ts';

const answers = (command: string, ...parameters: string[]) =>
  spawnSync(command, parameters).status === 0;

/** A receiver that a reader can take. */
export interface Receiver {
  /** Its file, below examples/. */
  readonly file: string;
  /** What has to be installed. */
  readonly needs: string;
  readonly isInstalled: boolean;
  /** How it is started on a port, with a folder for what it makes. */
  readonly command: (port: number, made: string) => [string, ...string[]];
  /** The path that it is at. */
  readonly path: string;
  /** How it answers what is not Signet's. */
  readonly refusal: number;
  /** How it answers what is too long. */
  readonly tooLong: number;
  /** Whether it has a use only for events about users. */
  readonly isOfUsers: boolean;
}

const common = { path: '/', refusal: 401, tooLong: 413, isOfUsers: false };

const node = (file: string): Receiver => ({
  ...common,
  file,
  needs: 'npm ci --prefix examples/receivers',
  // The first of all is beside the packages of the service.
  isInstalled: areInstalled('receivers') || !file.includes('/'),
  command: () => [process.execPath, pathOf(file)],
  isOfUsers: file.endsWith('in-order.js'),
});

const python = (file: string, modules: string): Receiver => {
  const command = pythonWith(modules);
  return {
    ...common,
    file: `receivers/python/${file}`,
    needs: `a Python 3 with ${modules}`,
    isInstalled: command !== undefined,
    command: () => [command ?? 'python3', pathOf(`receivers/python/${file}`)],
  };
};

export const receivers: readonly Receiver[] = [
  node('receive-webhooks.js'),
  ...filesOf('receivers').map((name) => node(`receivers/${name}`)),
  python('http_server.py', 'http.server'),
  python('flask_app.py', 'flask'),
  python('fastapi_app.py', 'fastapi, uvicorn'),
  {
    ...common,
    file: 'receivers/php/receiver.php',
    needs: 'php',
    isInstalled: answers('php', '--version'),
    command: (port) => ['php', '-S', `localhost:${port}`, pathOf('receivers/php/receiver.php')],
  },
  {
    ...common,
    file: 'receivers/ruby/receiver.ru',
    needs: 'puma',
    isInstalled: answers('puma', '--version'),
    command: (port) => [
      'puma',
      '--bind',
      `tcp://localhost:${port}`,
      pathOf('receivers/ruby/receiver.ru'),
    ],
  },
  {
    ...common,
    file: 'receivers/go/receiver.go',
    needs: 'go',
    isInstalled: answers('go', 'version'),
    command: (_port, made) => [join(made, 'receiver')],
  },
  {
    ...common,
    file: 'receivers/perl/receiver.psgi',
    needs: 'plackup',
    isInstalled: answers('plackup', '--version'),
    command: (port) => [
      'plackup',
      ...['--host', 'localhost', '--port', String(port)],
      pathOf('receivers/perl/receiver.psgi'),
    ],
  },
  {
    ...common,
    file: 'receivers/webhook/hooks.json',
    needs: 'webhook',
    isInstalled: answers('webhook', '-version'),
    command: (port) => [
      'webhook',
      ...['-ip', 'localhost', '-port', String(port)],
      ...['-hooks', pathOf('receivers/webhook/hooks.json')],
    ],
    path: '/hooks/signet',
    // What its command fails at is a fault.
    refusal: 500,
    // It has no limit.
    tooLong: 204,
  },
];

/** A receiver that listens. */
export interface RunningReceiver {
  readonly receiver: Receiver;
  readonly url: string;
  /** Starts it with a secret, after the end of the one that was started before. */
  start(secret: string): Promise<void>;
  /** Starts it with a secret that it should not take; returns its process as soon as that listens or has ended. */
  startInVain(secret: string): Promise<RunningProgram>;
  /** All that it has printed so far. */
  printed(): string;
  /** How many messages it has taken so far that have this text. */
  taken(text: string): number;
}

/** Makes all ready for a receiver. It starts with the secret of a webhook, which has to know the URL before. */
export async function prepareReceiver(receiver: Receiver): Promise<RunningReceiver> {
  const made = await mkdtemp(join(tmpdir(), 'signet-receiver-'));
  const messages = join(made, 'messages');
  await mkdir(messages);
  if (receiver.needs === 'go') {
    const output = ['-o', join(made, 'receiver'), pathOf(receiver.file)];
    const { status, stderr } = spawnSync('go', ['build', ...output], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }
  const port = await freePort();
  const url = `http://localhost:${port}${receiver.path}`;
  let running: RunningProgram | undefined;
  let before = '';

  const launch = async (secret: string) => {
    before += running?.printed() ?? '';
    await running?.kill();
    const environment = { WEBHOOK_SECRET: secret, PORT: String(port), MESSAGES: messages };
    // The hook names its command from there.
    const cwd = receiver.needs === 'webhook' ? pathOf('receivers/webhook') : made;
    const child = startProgram(receiver.command(port, made), environment, cwd);
    running = child;
    const state = await eventually(() => Promise.race([child.ended, listens(url)]), 50);
    return { child, state };
  };

  const printed = () => `${before}${running?.printed() ?? ''}`;
  return {
    receiver,
    url,
    printed,
    async start(secret) {
      const { child, state } = await launch(secret);
      if (state !== true) {
        throw new Error(`${receiver.file} ended with ${state}. ${child.complaints()}`);
      }
    },
    startInVain: async (secret) => (await launch(secret)).child,
    taken(text) {
      const stored = readdirSync(messages)
        .filter((name) => name.endsWith('.json'))
        .map((name) => readFileSync(join(messages, name), 'utf8'));
      return [...printed().split('\n'), ...stored].filter((each) => each.includes(text)).length;
    },
  };
}

/** @throws if nothing listens yet. */
async function listens(url: string): Promise<true> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return true;
}
