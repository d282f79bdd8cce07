import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { closeAtEnd } from '../support/cleanup.ts';
import { examples } from './installed.ts';

/** The files that a reader can take. */
export const filesOfVerifiers = (): string[] =>
  readdirSync(join(examples, 'verifiers'))
    .filter((name) => name.endsWith('.js'))
    .toSorted();

/** A Python that has PyJWT, if there is one. */
export const python = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import jwt, cryptography']).status === 0,
);

/** The version of a package of the verifiers. */
export function versionOf(name: string): string {
  const path = join(examples, 'verifiers/node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

/** The version of PyJWT. */
export const versionOfPyJwt = (): string =>
  python
    ? spawnSync(python, ['-c', 'import jwt; print(jwt.__version__)']).stdout.toString().trim()
    : '';

/**
 * Starts an example that checks tokens, as its reader would.
 *
 * @param path The file, below examples/.
 * @returns Asks it with a token, and returns the status of its answer.
 */
export async function startVerifier(
  path: string,
  environment: Record<string, string>,
): Promise<(token: string) => Promise<number>> {
  const command = path.endsWith('.py') ? (python ?? 'python3') : process.execPath;
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, [join(examples, path)], {
    env: { PATH, HOME, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Some print what they refuse, so this is shown only where one ends.
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const ended = once(child, 'close');
  closeAtEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const listening = Promise.withResolvers<string>();
  createInterface(child.stdout).on('line', (line) => {
    const [, port] = /listens on port (\d+)/.exec(line) ?? [];
    if (port) listening.resolve(port);
  });
  void ended.then(([code]) =>
    listening.reject(new Error(`${path} ended with ${code}. ${complaints}`)),
  );
  const port = await listening.promise;
  return async (token) => {
    // One of them is a GraphQL API; the others pay no heed to a query.
    const response = await fetch(
      `http://localhost:${port}/?query=${encodeURIComponent('{user}')}`,
      {
        headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      },
    );
    await response.arrayBuffer();
    return response.status;
  };
}
