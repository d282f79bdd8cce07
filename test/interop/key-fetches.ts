import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { decodeProtectedHeader } from 'jose';

/** Whether each unknown key has an example fetch the key set, or no more than some in a time. */
export type Habit = 'fetches for each' | 'fetches now and then';

/** How many strangers ask: many more than one time has room for. */
export const strangers = 30;

/**
 * Asks with tokens that each name another unknown key, while nobody else asks.
 *
 * @param token One that is good but for that.
 * @returns How often this process was asked for its key set meanwhile.
 */
export async function askAsStrangers(
  ask: (token: string) => Promise<number>,
  token: string,
): Promise<number> {
  let fetches = 0;
  const count = (message: unknown) => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.url === '/oidc/jwks') fetches += 1;
  };
  subscribe('http.server.request.start', count);
  try {
    for (let stranger = 0; stranger < strangers; stranger += 1) {
      await ask(withKey(token, `stranger-${stranger}`));
    }
  } finally {
    unsubscribe('http.server.request.start', count);
  }
  return fetches;
}

function withKey(token: string, kid: string): string {
  const [, ...rest] = token.split('.');
  const header = { ...decodeProtectedHeader(token), kid };
  return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...rest].join('.');
}
