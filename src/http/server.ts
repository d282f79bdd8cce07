import type { RequestListener } from 'node:http';
import helmet from '@fastify/helmet';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { isUnreachable } from '../db/unreachable.ts';
import { urlOf } from '../experience/access/visitor.ts';
import { failures } from '../failures.ts';
import { lookWithoutDatabase } from '../html/look.ts';
import { html } from '../html/markup.ts';
import { page, pageHeaders, unavailablePage } from '../html/page.ts';
import { newTraceId } from '../ids.ts';
import type { Language } from '../languages.ts';
import { type TrustProxy, trustOf } from './client-address.ts';
import type { Listener } from './listener.ts';

/** The Fastify instance of the service, and how it begins to answer. */
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
  },
): HttpServer {
  let handler: RequestListener | undefined;
  const http = fastify({
    loggerInstance: options.log as NonNullable<FastifyServerOptions['loggerInstance']>,
    // We log requests ourselves: the library's log line would hold the URL.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'traceId' }),
    trustProxy: trustOf(options.trustProxy),
    genReqId: () => newTraceId(),
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: false },
    serverFactory(created) {
      handler = created;
      return server;
    },
  });
  // Pages set their own content security policy; all else is data, which other origins may read.
  http.register(helmet, {
    contentSecurityPolicy: false,
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    strictTransportSecurity: options.baseUrl.startsWith('https:'),
  });
  http.setErrorHandler<Error>((error, request, reply) =>
    answerFailure(options, error, request, reply),
  );
  return {
    http,
    async open() {
      // Until the routes are ready their hooks are missing, and a request would end the process.
      await http.ready();
      if (handler) answerWith(handler);
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

/** Answers failures of routes without their own error handling, with a page. */
function answerFailure(
  { baseUrl }: { readonly baseUrl: string },
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { statusCode: status = 500 } = error as { statusCode?: number };
  const look = lookWithoutDatabase({ acceptLanguage: request.headers['accept-language'] });
  if (isUnreachable(error)) {
    request.log.warn({ err: error }, 'the database cannot be reached');
    const { status: unavailable, headers = {} } = failures.SERVICE_UNAVAILABLE;
    const retryUrl = request.method === 'GET' ? urlOf({ baseUrl }, request) : undefined;
    return reply
      .code(unavailable)
      .headers({ ...pageHeaders(look), ...headers })
      .send(unavailablePage(look, retryUrl));
  }
  const t = texts[look.language];
  const isFault = status >= 500;
  if (isFault) request.log.error({ err: error, requestId: request.id }, 'a request failed');
  const content = isFault
    ? { heading: t.failed, lead: t.logged(request.id), body: html`` }
    : { heading: t.refused, body: html`<p><code>${error.message}</code></p>` };
  return reply
    .code(isFault ? 500 : status)
    .headers(pageHeaders(look))
    .send(page(content, look));
}
