import { spawnSync } from 'node:child_process';
import { pathOf, pythonWith, startExample } from './example-process.ts';
import type { Program } from './languages.ts';

/** A Python that has PyJWT, if there is one. */
export const python = pythonWith('jwt, cryptography');

/** The version of PyJWT. */
export const versionOfPyJwt = (): string =>
  python
    ? spawnSync(python, ['-c', 'import jwt; print(jwt.__version__)']).stdout.toString().trim()
    : '';

/**
 * Starts an example that checks tokens.
 *
 * @param path The file, below examples/.
 * @param program What runs it, if that is neither Node nor the Python of PyJWT.
 * @returns Asks it with a token, and returns the status of its answer.
 */
export async function startVerifier(
  path: string,
  environment: Record<string, string>,
  program?: Program,
): Promise<(token: string) => Promise<number>> {
  const ofPython = path.endsWith('.py')
    ? ([python ?? 'python3', pathOf(path)] as const)
    : undefined;
  const url = await startExample(path, environment, program?.command ?? ofPython);
  return async (token) => {
    // One of them is a GraphQL API; the others pay no heed to a query.
    const response = await fetch(`${url}/?query=${encodeURIComponent('{user}')}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    });
    await response.arrayBuffer();
    return response.status;
  };
}
