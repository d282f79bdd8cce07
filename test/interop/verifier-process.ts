import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examples, startExample } from './example-process.ts';

/** Whether the packages are there: `npm run test:interop` installs them. */
export const areInstalled = existsSync(join(examples, 'verifiers/node_modules'));

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
  const example = startExample([command, join(examples, path)], { PORT: '0', ...environment });
  const [, port] = await example.line(/listens on port (\d+)/);
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
