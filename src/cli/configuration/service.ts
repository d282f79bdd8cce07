import { managementIndicator, managementScopes } from '../../auth/scopes.ts';
import { CommandError, type Terminal } from '../command.ts';

/** What every command that talks to a service reads, as the help shows it. */
export const serviceHelp = `SIGNET_URL                   the service, by default http://localhost:3000
SIGNET_CLIENT_ID             a machine-to-machine application, which needs the scopes of
SIGNET_CLIENT_SECRET         what it reads and changes`;

/** Asks a running service, as the application that the environment names. */
export interface Service {
  readonly url: string;
  /** @throws {CommandError} for errors of the document as a whole. */
  ask<Data>(document: string, variables?: object): Promise<Data>;
}

/**
 * Connects to the service of the environment.
 *
 * @throws {CommandError} if it does not answer, or lets nobody in.
 */
export async function connect({ environment }: Pick<Terminal, 'environment'>): Promise<Service> {
  const url = (environment['SIGNET_URL'] ?? 'http://localhost:3000').replace(/\/+$/, '');
  const token = await fetchToken(url, environment);
  return {
    url,
    async ask(document, variables = {}) {
      const response = await post(`${url}/graphql`, {
        body: JSON.stringify({ query: document, variables }),
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
      });
      const answer = (await json(response)) as {
        data?: unknown;
        errors?: readonly { message: string; extensions?: { requiredScope?: string } }[];
      };
      const [error] = answer.errors ?? [];
      if (error) throw new CommandError(error.message);
      if (answer.data == null) throw unexpected(response);
      // The documents of the commands and these types are written beside each other.
      return answer.data as never;
    },
  };
}

async function fetchToken(url: string, environment: Terminal['environment']): Promise<string> {
  const named = (name: string): string => {
    const value = environment[name];
    if (!value) throw new CommandError(`${name} is not set`);
    return value;
  };
  // RFC 6749 §2.3.1
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice('='.length);
  const id = encode(named('SIGNET_CLIENT_ID'));
  const credentials = `${id}:${encode(named('SIGNET_CLIENT_SECRET'))}`;
  const response = await post(`${url}/oidc/token`, {
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: managementIndicator,
      // It gets those that it holds.
      scope: [...managementScopes.keys()].join(' '),
    }),
  });
  const answer = (await json(response)) as { access_token?: string; error_description?: string };
  if (answer.access_token === undefined) {
    throw new CommandError(`${url} gives no token: ${answer.error_description ?? response.status}`);
  }
  return answer.access_token;
}

async function post(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { method: 'POST', redirect: 'error', ...request });
  } catch (cause) {
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    const why = reason instanceof Error ? reason.message : String(reason);
    throw new CommandError(`${url} cannot be reached: ${why || 'nothing answers there'}`);
  }
}

const json = (response: Response): Promise<unknown> =>
  response.json().catch(() => {
    throw unexpected(response);
  });

const unexpected = ({ url, status }: Response) =>
  new CommandError(`${url} answered ${status}, and not as Signet does: check SIGNET_URL`);
