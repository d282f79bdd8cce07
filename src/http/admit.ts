import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { overloaded } from '../admission/overloaded.ts';
import type { Turn, TurnKind, Turns } from '../admission/turns.ts';
import { failures } from '../failures.ts';
import { TooBusy } from '../oidc/token/oauth-errors.ts';
import { problemDocument } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What kind of turn its requests wait for, by default `request`; `none`: they cost next to nothing, and never wait. */
    turn?: TurnKind | 'none' | ((request: FastifyRequest) => TurnKind);
  }
}

const turns = new WeakMap<ServerResponse, Turn>();

/**
 * Lets requests wait for their turn before their bodies are read. Refused ones fail with `Overloaded`, which their
 * scopes answer in their own forms.
 */
export function admitInTurn(http: FastifyInstance, all: Turns): void {
  http.addHook('preParsing', (request, { raw }, _payload, next) => {
    const { turn = 'request' } = request.routeOptions.config;
    if (turn === 'none') {
      next();
      return;
    }
    const kind = typeof turn === 'function' ? turn(request) : turn;
    let begun: Turn | undefined;
    const giveUp = all.take(
      kind,
      (turn) => {
        begun = turn;
        turns.set(raw, turn);
        next();
      },
      next,
    );
    raw.once('close', () => {
      if (!begun) giveUp?.();
      // The work for a client that has gone goes on, and so its place is not free yet.
      else if (raw.writableFinished) begun.leave();
    });
  });
}

/** Ends the turn of a request before its answer ends: that takes long from here on, and costs little. */
export function leaveTurn(response: ServerResponse): void {
  turns.get(response)?.leave();
}

/** An answer to a request that is refused before it is looked at. */
interface Refusal {
  readonly kind: TurnKind;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const { status, headers: retryAfter } = failures.OVERLOADED;

function refusalAs(
  kind: TurnKind,
  type: string,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    kind,
    body: text,
    headers: {
      ...retryAfter,
      ...headers,
      'cache-control': 'no-store',
      'content-type': type,
      'content-length': String(Buffer.byteLength(text)),
      'x-content-type-options': 'nosniff',
    },
  };
}

const anyOrigin = { 'access-control-allow-origin': '*' };
const { message } = overloaded;
const errors = [{ message, extensions: { code: 'OVERLOADED' } }];
const { code: error, message: error_description } = new TooBusy();
const inGraphQL = (headers?: typeof anyOrigin) =>
  refusalAs('request', 'application/json; charset=utf-8', { errors }, headers);

const asProblem = (headers?: typeof anyOrigin) =>
  refusalAs(
    'request',
    'application/problem+json',
    problemDocument({ code: 'OVERLOADED', detail: message }),
    headers,
  );
const ofRest = asProblem(anyOrigin);

const byPath: ReadonlyMap<string, Refusal> = new Map([
  [
    '/oidc/token',
    refusalAs('token', 'application/json; charset=utf-8', { error, error_description }),
  ],
  ['/graphql', inGraphQL(anyOrigin)],
  ['/account/graphql', inGraphQL(anyOrigin)],
  ['/console/graphql', inGraphQL()],
  ['/experience/graphql', inGraphQL()],
  ['/mcp', asProblem()],
]);

const ofOthers = refusalAs('request', 'text/plain; charset=utf-8', `${message}\n`);

/**
 * Refuses requests of programs that would wait for too long, before anything is done for them: a refusal has to cost
 * little, or an overloaded service would do nothing but refuse.
 */
export function refuseEarly(turns: Turns, next: RequestListener): RequestListener {
  return (request, response) => {
    const refusal = refusalOf(request);
    if (refusal && request.method !== 'OPTIONS' && turns.refuses(refusal.kind)) {
      refuse(response, refusal);
    } else next(request, response);
  };
}

/** Refuses every request, in the form that suits its path. */
export const refuseAll: RequestListener = (request, response) =>
  refuse(response, refusalOf(request) ?? ofOthers);

function refusalOf({ url = '' }: IncomingMessage): Refusal | undefined {
  const query = url.indexOf('?');
  return (
    byPath.get(query < 0 ? url : url.slice(0, query)) ??
    (url.startsWith('/api/') ? ofRest : undefined)
  );
}

const refuse = (response: ServerResponse, { headers, body }: Refusal) =>
  response.writeHead(status, headers).end(body);
