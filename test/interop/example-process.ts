import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { closeAtEnd } from '../support/cleanup.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** Where an example is. */
export const pathOf = (path: string): string => join(examples, path);

/** The text of an example. */
export const readExample = (path: string): string => readFileSync(pathOf(path), 'utf8');

/** The files of a folder of examples that a reader can take. */
export const filesOf = (folder: string): string[] =>
  readdirSync(join(examples, folder))
    .filter((name) => /\.(js|py)$/.test(name))
    .toSorted();

/** Whether the packages of a folder are there: `npm run test:interop` installs them. */
export const areInstalled = (folder: string): boolean =>
  existsSync(join(examples, folder, 'node_modules'));

/** The version of a package of a folder. */
export const versionOf = (folder: string, name: string): string =>
  (
    JSON.parse(readExample(join(folder, 'node_modules', name, 'package.json'))) as {
      version: string;
    }
  ).version;

/** A Python that has these modules, if there is one. */
export const pythonWith = (modules: string): string | undefined =>
  ['python3', '/usr/bin/python3'].find(
    (name) => spawnSync(name, ['-c', `import ${modules}`]).status === 0,
  );

/** What runs an example that is a server. */
export type Command = readonly [string, ...string[]];

/**
 * Starts an example that is a server, as its reader would.
 *
 * @param path The file, below examples/.
 * @param command What runs it, if that is not Node.
 * @returns Where it listens.
 */
export async function startExample(
  path: string,
  environment: Record<string, string>,
  [command, ...parameters]: Command = [process.execPath, pathOf(path)],
): Promise<string> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  // Where a machine may have more libraries than its system.
  const { GEM_PATH, PERL5LIB, PYTHONPATH } = process.env;
  const child = spawn(command, parameters, {
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      GEM_PATH,
      PERL5LIB,
      PYTHONPATH,
      PORT: '0',
      ...environment,
    },
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
  // PHP's own server says it in its own words.
  for (const output of [child.stdout, child.stderr]) {
    createInterface(output).on('line', (line) => {
      const [, port] = /(?:listens on port |Server \(http:\/\/localhost:)(\d+)/.exec(line) ?? [];
      if (port) listening.resolve(port);
    });
  }
  void ended.then(([code]) =>
    listening.reject(new Error(`${path} ended with ${code}. ${complaints}`)),
  );
  return `http://localhost:${await listening.promise}`;
}
