import { spawnSync } from 'node:child_process';
import { pythonWith, startExample } from './example-process.ts';

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
 * @returns Asks it with a token, and returns the status of its answer.
 */
export async function startVerifier(
  path: string,
  environment: Record<string, string>,
): Promise<(token: string) => Promise<number>> {
  const url = await startExample(path, environment, python);
  return async (token) => {
    // One of them is a GraphQL API; the others pay no heed to a query.
    const response = await fetch(`${url}/?query=${encodeURIComponent('{user}')}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    });
    await response.arrayBuffer();
    return response.status;
  };
}
