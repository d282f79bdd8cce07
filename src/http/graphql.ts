import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type DocumentNode, GraphQLError, NoSchemaIntrospectionCustomRule } from 'graphql';
import { createYoga, type GraphQLParams, isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import { createFeed } from '../events/feed/feed.ts';
import type { Tail } from '../events/tail.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { limitAliases } from '../graphql/limit-aliases.ts';
import { parseDocument } from '../graphql/parse-document.ts';
import { maskFault, publicResult, withCode } from '../graphql/public-error.ts';
import { requestError } from '../graphql/request-error.ts';
import { schema } from '../schema.ts';
import type { Services } from '../services.ts';
import { createDocumentCache, maxDocumentBytes } from './document-cache.ts';
import { mountGraphiQL } from './graphiql/mount.ts';
import { contextOf, identify, type Sender } from './identify.ts';
import { bodyFaultOf, bodyRule, errorOfBody, takeJson } from './json-body.ts';
import {
  type Connections,
  subscriptionPlugin,
  type Transport,
} from './subscriptions/connections.ts';
import { eventStreamPlugin } from './subscriptions/event-stream.ts';
import { suggestionsPlugin } from './suggestions.ts';
import { turnsPlugin } from './turns.ts';

/** The media types of a request body. */
const contentTypes = [
  'application/json',
  'application/graphql+json',
  'application/graphql-response+json',
];

/** The request of an operation; its id is the trace id of all effects. */
interface RequestScope {
  readonly id: string;
  readonly log: Logger;
}

// For a document that does not parse or validate, GraphQL over HTTP decides the status, by the requested media type.
const specified = { spec: true };

/** Keeps documents within the limits, and gives every error a code of the contract. */
export function contractPlugin(introspection: boolean): Plugin<Partial<ServerContext>> {
  const documents = createDocumentCache();
  return {
    onParse({ context, params, setParseFn, setParsedDocument }) {
      const text = String(params.source);
      if (Buffer.byteLength(text) > maxDocumentBytes) {
        throw requestError(
          'GRAPHQL_PARSE_FAILED',
          `The document has more than ${maxDocumentBytes} bytes.`,
        );
      }
      const known = documents.get(text);
      if (known) {
        setParsedDocument(known);
        return undefined;
      }
      setParseFn(parseDocument);
      return ({ result, replaceParseResult }) => {
        if (result instanceof GraphQLError) {
          replaceParseResult(withCode(result, 'GRAPHQL_PARSE_FAILED', specified));
        } else if (isKnown(context.sender)) {
          documents.set(text, result as DocumentNode);
        }
      };
    },
    onValidate({ addValidationRule }) {
      addValidationRule(limitAliases);
      if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule);
      return ({ valid, result, setResult }) => {
        if (valid) return;
        const errors = result as readonly GraphQLError[];
        setResult(errors.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED', specified)));
      };
    },
    onExecute: () => ({
      onExecuteDone({ result, setResult }) {
        if (!('errors' in result) || result.data !== undefined) return;
        const errors = result.errors?.map(refusedBeforeRun);
        setResult({ ...result, ...(errors ? { errors } : {}) });
      },
    }),
    onSubscribe: () => ({
      onSubscribeResult({ result, setResult }) {
        if (isAsyncIterable(result) || !result.errors) return;
        setResult({ ...result, errors: result.errors.map(refusedBeforeRun) });
      },
    }),
  };
}

// Without a path, nothing ran: the variables do not fit, or there is no operation of that name.
const refusedBeforeRun = (error: GraphQLError) => (error.path ? error : withCode(error));

// Strangers fill no cache. Whoever signs in, at the Experience API, is one still.
const isKnown = (sender: Sender | undefined) =>
  sender !== undefined && 'caller' in sender && sender.caller !== null;

interface ServerContext {
  readonly traceId: string;
  readonly sender: Sender;
  /** The parsed body of an HTTP request, or why it could not be read. */
  readonly sent?: { readonly params: unknown } | { readonly fault: unknown };
  readonly transport?: Transport;
  /** Sent by a page of the console, with its cookie. */
  readonly isConsole?: boolean;
}

// Yoga parses no body: it was already read, within its limits, and parsed when the sender was known.
const sentPlugin: Plugin<object, ServerContext> = {
  onRequestParse({ serverContext, setRequestParser }) {
    const { sent } = serverContext;
    setRequestParser(() => {
      if (sent && 'fault' in sent) throw sent.fault;
      return sent?.params as GraphQLParams;
    });
  },
};

const noCache = { get: () => undefined, set: () => undefined };

/** Switches the library's caches off: they keep documents that do not parse, and count documents instead of bytes. */
export const parserAndValidationCache = { documentCache: noCache, errorCache: noCache };

// The token is in a header and no cookie is read, so any page with a token may call.
const anyOrigin = { origin: '*', credentials: false, methods: ['GET', 'POST'], maxAge: 3600 };

/** The GraphQL server, without a transport. */
export type GraphQLServer = ReturnType<typeof createGraphQLServer>;

/** Makes the GraphQL server: queries, mutations, GraphiQL. Every fault is masked, and logged with its request's id. */
export function createGraphQLServer(services: Services, connections: Connections, tail: Tail) {
  const { introspection } = services.config;
  const scope = new AsyncLocalStorage<RequestScope>();
  const within = <T>(id: string, run: () => T): T =>
    scope.run({ id, log: services.log.child({ reqId: id }) }, run);
  const feed = createFeed(services, tail, (result, traceId) =>
    JSON.stringify(publicResult(result, traceId, services.log)),
  );

  const yoga = createYoga<ServerContext, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    logging: false,
    // Its type does not know the context.
    cors: (_request, context) => !(context as ServerContext).isConsole && anyOrigin,
    batching: false,
    graphiql: false,
    multipart: false,
    parserAndValidationCache,
    context: ({ sender, traceId }) => contextOf(services, sender, traceId),
    maskedErrors: {
      maskError(error) {
        const { id, log } = scope.getStore() ?? { id: 'none', log: services.log };
        return maskFault(error, id, log);
      },
    },
    plugins: [
      sentPlugin,
      turnsPlugin,
      contractPlugin(introspection),
      suggestionsPlugin(services.config),
      subscriptionPlugin(feed, connections),
      eventStreamPlugin,
    ],
  });
  return { yoga, scope, within };
}

/** Answers a GraphQL request over HTTP, whose body was already read. */
export type AnswerGraphQL = (
  request: FastifyRequest,
  reply: FastifyReply,
  sent: ServerContext['sent'],
) => Promise<void>;

/** Makes the function that answers GraphQL requests over HTTP. */
export function answerGraphQL(
  services: Services,
  { yoga, scope }: GraphQLServer,
  { isConsole = false }: { readonly isConsole?: boolean } = {},
): AnswerGraphQL {
  // Its type knows of neither the third argument nor how little is read of the first.
  const listener = yoga.requestListener as unknown as (
    request: Pick<FastifyRequest, 'method' | 'headers' | 'url' | 'body'>,
    response: ServerResponse,
    context: ServerContext,
  ) => Promise<void>;

  return async (request, reply, sent) => {
    const { id, log, method, headers } = request;
    const url = isConsole ? '/graphql' : request.url;
    const sender = await identify(services, request);
    const context: ServerContext = { traceId: id, sender, isConsole, ...(sent ? { sent } : {}) };
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    // Only the parts of the request that Yoga needs. With the request itself, Yoga would remove the socket's timeout
    // and read the body.
    const asked = { method, headers, url, body: { sent: true } };
    await scope.run({ id, log: log as Logger }, () => listener(asked, reply.raw, context));
  };
}

/** Mounts `/graphql` over HTTP. */
export function mountGraphQL(
  http: FastifyInstance,
  services: Services,
  server: GraphQLServer,
): void {
  const answer = answerGraphQL(services, server);

  http.register(async (graphql) => {
    takeJson(graphql, services, contentTypes);
    graphql.setErrorHandler((error, request, reply) => {
      const fault = bodyFaultOf(error, contentTypes);
      return answer(request, reply, { fault: fault ? errorOfBody(fault) : error });
    });
    const graphiql = services.config.graphiql ? mountGraphiQL(graphql) : undefined;
    graphql.route({
      url: '/graphql',
      method: ['GET', 'POST', 'OPTIONS'],
      handler: (request, reply) =>
        graphiql?.isAsked(request)
          ? graphiql.answer(reply)
          : answer(request, reply, readParams(request)),
    });
  });
}

/** The parameters of a GraphQL request, or why they cannot be read. */
export function readParams({
  method,
  headers,
  query,
  body,
}: FastifyRequest): ServerContext['sent'] {
  if (method === 'POST') {
    if (body !== undefined) return { params: body };
    return headers['content-type'] === undefined
      ? { fault: errorOfBody({ code: 'UNSUPPORTED_MEDIA_TYPE', message: bodyRule(contentTypes) }) }
      : { fault: errorOfBody({ code: 'BAD_USER_INPUT', message: 'The body is empty.' }) };
  }
  const { query: document, operationName, variables, extensions } = query as Sent;
  try {
    return {
      params: {
        query: document,
        operationName: operationName || undefined,
        variables: variables ? JSON.parse(variables) : undefined,
        extensions: extensions ? JSON.parse(extensions) : undefined,
      },
    };
  } catch {
    return {
      fault: errorOfBody({
        code: 'BAD_USER_INPUT',
        message: 'The variables or the extensions are not JSON.',
      }),
    };
  }
}

type Sent = Readonly<
  Partial<Record<'query' | 'operationName' | 'variables' | 'extensions', string>>
>;
