import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAtEnd } from '../../support/cleanup.ts';
import { eventually } from '../../support/wait.ts';
import { pathOf } from '../example-process.ts';

const examples = pathOf('verifiers/servers');

/** The servers that a reader finds below examples/verifiers/servers, a folder each. */
export const foldersOfServers = (): string[] => readdirSync(examples).toSorted();

/**
 * Why a server cannot start here.
 *
 * @param packages A file of each of the packages of Debian that it needs.
 */
export function missingOf(packages: Readonly<Record<string, string>>): string | undefined {
  const missing = Object.keys(packages).filter((name) => !existsSync(packages[name] ?? ''));
  return missing.length === 0 ? undefined : `Debian: apt-get install ${missing.join(' ')}`;
}

/** The version of a package of Debian; empty if it is not there. */
export function versionOf(name: string): string {
  const { stdout } = spawnSync('dpkg-query', ['--show', name], { encoding: 'utf8' });
  // Behind the name, without Debian's own numbers before and behind it.
  return /\t(?:\d+:)?(\d+(?:\.\d+)+)/.exec(stdout ?? '')?.[1] ?? '';
}

/** What a server is told: what a reader would put for each `${NAME}` of its files. */
export interface Setting {
  readonly ISSUER: string;
  readonly API: string;
  readonly SCOPE: string;
  /** An application that asks about tokens. */
  readonly CLIENT_ID: string;
  readonly CLIENT_SECRET: string;
}

/** A server that runs. */
export interface Started {
  /** Asks it with a token, and returns the status of its answer. */
  ask(token: string): Promise<number>;
  /** Does what its timer would, where it has keys in files. */
  renewKeys?(): Promise<void>;
}

/**
 * Lays out a server's files in a folder of their own, as a reader would in `/etc`.
 *
 * @param values What the reader puts for each `${NAME}`.
 * @param elsewhere What of the text is another text here.
 * @returns The folder. It goes at the end.
 */
export async function layOut(
  server: string,
  values: Readonly<Record<string, string>>,
  elsewhere: (folder: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `signet-${server}-`));
  closeAtEnd(() => rm(folder, { recursive: true, force: true }));
  for (const file of readdirSync(join(examples, server))) {
    let text = await readFile(join(examples, server, file), 'utf8');
    const replaced = Object.entries(values).map(([name, value]) => [`\${${name}}`, value] as const);
    for (const [from, to] of [...replaced, ...Object.entries(elsewhere(folder))]) {
      text = text.replaceAll(from, to);
    }
    await writeFile(join(folder, file), text);
  }
  return folder;
}

/**
 * Starts a program that goes on until the end.
 *
 * @param isReady Throws as long as it is not.
 */
export async function startProgram(
  command: string,
  parameters: readonly string[],
  isReady: () => Promise<unknown>,
  environment: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const child = spawn(command, parameters, {
    // All that it starts ends with it.
    detached: true,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const keep = (chunk: Buffer) => {
    printed += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = once(child, 'close');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  closeAtEnd(async () => {
    if (!hasEnded() && child.pid) process.kill(-child.pid, 'SIGKILL');
    await ended;
  });
  await eventually(async () => {
    if (!hasEnded()) await isReady();
  }, 50).catch((error: Error) => {
    throw new Error(`${command} is not ready: ${error.message} ${printed}`, { cause: error });
  });
  if (hasEnded()) throw new Error(`${command} ended: ${printed}`);
  return child;
}
