import type { RequestListener } from 'node:http';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { Overloaded } from '../admission/overloaded.ts';
import type { Turns } from '../admission/turns.ts';
import { isUnreachable } from '../db/unreachable.ts';
import { failures } from '../failures.ts';
import type { Language } from '../languages.ts';
import { html } from '../markup.ts';
import { beginTrace, followRequests } from '../tracing/requests.ts';
import { sendOverloaded, sendUnavailable } from '../web/failures.ts';
import { lookWithoutDatabase, spokenBy } from '../web/look.ts';
import { sendPage } from '../web/page.ts';
import { urlOf } from '../web/visitor.ts';
import { admitInTurn, refuseEarly } from './admit.ts';
import { dropForwardedPorts, type TrustProxy, trustOf } from './client-address.ts';
import type { Listener } from './listener.ts';
import { refuseUnrouted } from './unrouted.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False where no browser shows the answers: they go without the headers for pages. */
    isForBrowsers?: false;
  }
}

/** The Fastify instance of the service, and the function that starts it. */
export interface HttpServer {
  readonly http: FastifyInstance;
  /** Starts to answer in place of the listener. No route can be added after that. */
  open(): Promise<void>;
}

/** Makes the Fastify instance of the service. Features add the routes; the listener provides the server. */
export function createHttp(
  { server, answerWith }: Listener,
  options: {
    log: Logger;
    trustProxy: TrustProxy;
    baseUrl: string;
    turns: Turns;
  },
): HttpServer {
  let handler: RequestListener | undefined;
  const http = fastify({
    loggerInstance: options.log as NonNullable<FastifyServerOptions['loggerInstance']>,
    // We log requests ourselves: the library's log line would hold the URL.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'traceId' }),
    trustProxy: trustOf(options.trustProxy),
    genReqId: beginTrace,
    forceCloseConnections: 'idle',
    // The library's own refusals of a URL, which no hook and no error handler sees.
    frameworkErrors: ({ code }, request, reply) => {
      const isTooLong = code === 'FST_ERR_MAX_PARAM_LENGTH';
      refuseUnrouted(isTooLong ? 'URI_TOO_LONG' : 'BAD_USER_INPUT', request, reply);
    },
    routerOptions: { ignoreTrailingSlash: false },
    serverFactory(created) {
      handler = created;
      return server;
    },
  });
  // Pages set their own content security policy; all else is data, which other origins may read.
  const protect = helmet({
    contentSecurityPolicy: false,
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    strictTransportSecurity: options.baseUrl.startsWith('https:'),
  });
  followRequests(http);
  http.addHook('onRequest', (request, reply, next) => {
    if (request.routeOptions.config.isForBrowsers === false) return next();
    protect(request.raw, reply.raw, () => next());
  });
  admitInTurn(http, options.turns);
  http.setNotFoundHandler((request, reply) => refuseUnrouted('UNKNOWN_ROUTE', request, reply));
  http.setErrorHandler<Error>((error, request, reply) =>
    answerFailure(options, error, request, reply),
  );
  return {
    http,
    async open() {
      // Until the routes are ready their hooks are missing, and a request would end the process.
      await http.ready();
      if (!handler) return;
      const answer = refuseEarly(options.turns, handler);
      answerWith((request, response) => {
        dropForwardedPorts(request);
        answer(request, response);
      });
    },
  };
}

const texts = {
  en: {
    refused: 'The request cannot be answered',
    failed: failures.INTERNAL_SERVER_ERROR.title,
    logged: (id: string) => `The log has the details under the request id ${id}.`,
  },
  de: {
    refused: 'Die Anfrage kann nicht beantwortet werden',
    failed: 'Hier ist etwas schiefgegangen',
    logged: (id: string) => `Das Protokoll hat die Einzelheiten unter der Kennung ${id}.`,
  },
} as const satisfies Record<Language, object>;

/** Answers failures of routes without their own error handling with a page. */
function answerFailure(
  { baseUrl }: { readonly baseUrl: string },
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { statusCode: status = 500 } = error as { statusCode?: number };
  const retryUrl = request.method === 'GET' ? urlOf({ baseUrl }, request) : undefined;
  if (error instanceof Overloaded) return sendOverloaded(request, reply, retryUrl);
  if (isUnreachable(error)) {
    return sendUnavailable(request, reply, error, retryUrl);
  }
  const look = lookWithoutDatabase(spokenBy(request));
  const t = texts[look.language];
  const isFault = status >= 500;
  if (isFault) request.log.error({ err: error, requestId: request.id }, 'a request failed');
  const content = isFault
    ? { heading: t.failed, lead: t.logged(request.id), body: html`` }
    : { heading: t.refused, body: html`<p><code>${error.message}</code></p>` };
  return sendPage(reply.code(isFault ? 500 : status), look, content);
}
