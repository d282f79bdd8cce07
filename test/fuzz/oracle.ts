import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { TestService } from '../support/service.ts';
import { tag } from './drawing/values.ts';
import { type Answer, type Request, send } from './send.ts';

const documented = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const tableOf = (name: string) =>
  documented.split(`<!-- generated: ${name} -->`)[1]?.split('<!-- end -->')[0] ?? '';
const firstColumn = (table: string) =>
  new Set([...table.matchAll(/^\| `?(\w+)`? \|/gm)].map(([, code]) => code));

const codes = firstColumn(tableOf('errors'));
const oauthErrors = firstColumn(tableOf('oauth-errors'));

/** The close codes of sockets that are documented. */
export const closeCodes = firstColumn(documented.split('## Sockets')[1] ?? '');

// What a library or the database says about itself.
const inside =
  /node_modules|\n {4}at |\.[cm]?[jt]s:\d+:\d+|PrismaClient|invocation in|Raw query failed|invalid input syntax|invalid byte sequence|unsupported Unicode|violates \w+[- ]\w* ?constraint|Cannot read prop|is not a function|is not iterable/;

interface Errors {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { code?: string };
  }[];
}

/** Checks the errors of a GraphQL answer. */
export function expectDocumented({ errors = [] }: Errors): void {
  for (const { message, extensions } of errors) {
    expect(message).not.toMatch(inside);
    expect(codes).toContain(extensions?.code);
    expect(extensions?.code).not.toBe('INTERNAL_SERVER_ERROR');
  }
}

const graphqlPaths = ['/graphql', '/account/graphql', '/experience/graphql', '/console/graphql'];
const isType = ({ headers }: Answer, type: string) =>
  String(headers['content-type'] ?? '').startsWith(type);

function expectForm({ method, path: target }: Request, answer: Answer): void {
  const path = target.split('?')[0] ?? '';
  const isFailure = answer.status >= 400;
  // Node refuses headers and lines that are too long before there is a route.
  if (answer.status === 431) return;
  if (isType(answer, 'text/event-stream')) return;
  // As for a method that its door does not take.
  const isProblem = isType(answer, 'application/problem+json');
  const isJson = /json/.test(String(answer.headers['content-type'])) && !isProblem;
  if (graphqlPaths.includes(path) && isJson) {
    const body = JSON.parse(answer.text) as Errors;
    expect(body.data !== undefined || (body.errors?.length ?? 0) > 0).toBe(true);
    expectDocumented(body);
  } else if (isFailure && (isProblem || path.startsWith('/api/'))) {
    expect(answer.headers['content-type']).toContain('application/problem+json');
    const problem = JSON.parse(answer.text) as Record<string, unknown>;
    expect(problem).toMatchObject({
      type: expect.stringMatching(/^urn:signet:problem:/),
      title: expect.any(String),
      detail: expect.any(String),
      status: answer.status,
    });
    expect(codes).toContain(problem['code']);
  } else if (isFailure && method === 'POST' && path.startsWith('/oidc/token')) {
    const { error, error_description: description } = JSON.parse(answer.text) as Record<
      string,
      string
    >;
    expect(oauthErrors).toContain(error);
    // RFC 6749 §5.2.
    expect(description ?? '').toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/);
    if (path === '/oidc/token') expect(answer.headers['cache-control']).toContain('no-store');
  } else if (isFailure && !path.includes('/assets/')) {
    expect(answer.text).not.toBe('');
  }
}

/** Checks that an answer is one that the documentation describes. */
function expectSound(request: Request, answer: Answer): void {
  try {
    // The database can be reached, so not even a 503.
    expect(answer.status).toBeLessThan(500);
    if (answer.status >= 400) expect(answer.text).not.toMatch(inside);
    if (isType(answer, 'text/html')) expect(answer.text).not.toContain(tag);
    if (request.method !== 'HEAD') expectForm(request, answer);
  } catch (cause) {
    const told = { ...answer, text: answer.text.slice(0, 2000) };
    throw new Error(`${shown(request)}\n${JSON.stringify(told)}\n${String(cause)}`, { cause });
  }
}

const shown = ({ body, ...request }: Request) =>
  `${JSON.stringify(request)} ${JSON.stringify(String(body ?? '').slice(0, 4000))}`;

/** Sends requests to a service, and checks each answer and what was logged meanwhile. */
export function createOracle(service: TestService, secrets: readonly string[]) {
  return {
    async ask(request: Request): Promise<Answer> {
      service.logged.length = 0;
      const answer = await send(service, request).catch((cause: unknown) => {
        throw new Error(`${shown(request)}\n${String(cause)}`, { cause });
      });
      expectSound(request, answer);
      expectQuietLog(service, secrets, shown(request));
      return answer;
    },
  };
}

/** Checks that nothing failed inside, and that no secret was logged. */
export function expectQuietLog(
  { logged }: TestService,
  secrets: readonly string[],
  cause = '',
): void {
  const faults = logged.filter(({ level }) => Number(level) >= 50);
  expect(faults, cause).toEqual([]);
  const text = JSON.stringify(logged);
  expect(
    secrets.filter((secret) => text.includes(secret)),
    cause,
  ).toEqual([]);
}
