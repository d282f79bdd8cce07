import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  OperationTypeNode,
} from 'graphql';
import { createYoga, type GraphQLParams, isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import { Overloaded } from '../admission/overloaded.ts';
import { challengeAt } from '../auth/protected-resource.ts';
import { createFeed } from '../events/feed/feed.ts';
import type { Tail } from '../events/tail.ts';
import { failures } from '../failures.ts';
import type { GraphQLContext, Once, Place } from '../graphql/context.ts';
import { limitAliases } from '../graphql/limit-aliases.ts';
import { isDryRun, rehearse } from '../graphql/mutations/rehearsal.ts';
import { assertOneMutation, onceOf, replayedHeader } from '../graphql/mutations/safe-writes.ts';
import { contextForReading, placeOf, positionHeader } from '../graphql/operations/reading.ts';
import { parseDocument } from '../graphql/parse-document.ts';
import { maskFault, publicError, publicResult, withCode } from '../graphql/public-error.ts';
import { requestError, unauthenticated } from '../graphql/request-error.ts';
import { schema } from '../schema.ts';
import type { Call, Services } from '../services.ts';
import { callOf } from '../web/call.ts';
import { createDocumentCache, maxDocumentBytes } from './document-cache.ts';
import { mountGraphiQL } from './graphiql/mount.ts';
import { contextOf, dpopHeaders, identify, type Sender } from './identify.ts';
import { badRequest, bodyFaultOf, bodyRule, errorOfBody, takeJson } from './json-body.ts';
import {
  type Connections,
  subscriptionPlugin,
  type Transport,
} from './subscriptions/connections.ts';
import { eventStreamPlugin } from './subscriptions/event-stream.ts';
import { suggestionsPlugin } from './suggestions.ts';

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
export function contractPlugin(
  introspection: boolean,
): Plugin<Partial<ServerContext>, Partial<ServerContext>> {
  const documents = createDocumentCache();
  return {
    onParams({ params }) {
      // A request without a document is malformed, whichever media type is asked for, and whoever sent it.
      if (params && params.query == null) throw badRequest(400, 'The request has no "query".');
    },
    onParse({ context, params, setParseFn, setParsedDocument }) {
      const text = String(params.source);
      if (Buffer.byteLength(text) > maxDocumentBytes) {
        const message = `The document has more than ${maxDocumentBytes} bytes.`;
        throw faultFor(context.sender, requestError('GRAPHQL_PARSE_FAILED', message));
      }
      const known = documents.get(text);
      if (known) setParsedDocument(known);
      else setParseFn(parseDocument);
      return ({ result, replaceParseResult }) => {
        if (result instanceof GraphQLError) {
          const fault = withCode(result, 'GRAPHQL_PARSE_FAILED', specified);
          replaceParseResult(faultFor(context.sender, fault));
        } else if (isStranger(context.sender)) {
          // A socket's messages have no such parameters; there, the execution says so.
          const { params: sent } = context as { readonly params?: GraphQLParams };
          if (sent && !getOperationAST(result as DocumentNode, sent.operationName))
            replaceParseResult(tokenRequired());
        } else if (!known && isKnown(context.sender)) {
          documents.set(text, result as DocumentNode);
        }
      };
    },
    onValidate({ addValidationRule, context }) {
      addValidationRule(limitAliases);
      if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule);
      return ({ valid, result, setResult }) => {
        if (valid) return;
        const errors = result as readonly GraphQLError[];
        setResult(
          faultsFor(
            context.sender,
            errors.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED', specified)),
          ),
        );
      };
    },
    onExecute: ({ context: { sender } }) => ({
      onExecuteDone({ result, setResult }) {
        if (!('errors' in result) || result.data !== undefined) return;
        const { errors } = result;
        setResult({ ...result, ...(errors ? { errors: refusedBeforeRun(sender, errors) } : {}) });
      },
    }),
    onSubscribe: ({ context: { sender } }) => ({
      onSubscribeResult({ result, setResult }) {
        if (isAsyncIterable(result) || !result.errors) return;
        setResult({ ...result, errors: refusedBeforeRun(sender, result.errors) });
      },
    }),
  };
}

/** Refuses operations of a kind that a transport does not take. */
const onlyPlugin: Plugin<Partial<ServerContext>> = {
  onExecute: ({ args, context, setResultAndStopExecution }) =>
    refuseOthers(args, context, setResultAndStopExecution),
  onSubscribe: ({ args, context, setResultAndStopExecution }) =>
    refuseOthers(args, context, setResultAndStopExecution),
};

function refuseOthers(
  { document, operationName }: Pick<ExecutionArgs, 'document' | 'operationName'>,
  { only }: Partial<ServerContext>,
  refuse: (result: ExecutionResult) => void,
): void {
  const kind = getOperationAST(document, operationName)?.operation;
  // Where there is no such operation, the execution says so.
  if (only === undefined || kind === undefined || kind === only) return;
  const message = `The operation must be a ${only}, and is a ${kind}.`;
  refuse({ errors: [requestError('BAD_USER_INPUT', message)] });
}

/** Executes dry runs, and refuses an `Idempotency-Key` where it would say nothing. */
const safeWritesPlugin: Plugin<Partial<GraphQLContext & ServerContext>> = {
  onExecute({ args, context, executeFn, setExecuteFn, setResultAndStopExecution }) {
    const { document, operationName } = args as {
      readonly document: DocumentNode;
      readonly operationName?: string | null;
    };
    const isDry = context.isDryRun === true || isDryRun(document, operationName);
    try {
      if (context.once) assertOneMutation(document, operationName);
      // It takes a connection before any field asks for a right.
      if (isDry && !context.caller) throw unauthenticated();
    } catch (error) {
      setResultAndStopExecution({ errors: [error as GraphQLError] });
      return;
    }
    if (!isDry) return;
    setExecuteFn((given) => rehearse(given.contextValue, async () => executeFn(given)));
  },
};

/** Lets queries read replicas, and tells clients how far the database is after their mutations. */
const replicasPlugin: Plugin<Partial<GraphQLContext>> = {
  onExecute({ executeFn, setExecuteFn }) {
    // Its type does not know the context.
    setExecuteFn(async (given) => {
      const { document, operationName, contextValue } = given;
      const context = contextForReading(contextValue, given);
      const result = await executeFn({ ...given, contextValue: context });
      const kind = getOperationAST(document, operationName)?.operation;
      if (kind === OperationTypeNode.MUTATION) await context.place?.tell();
      return result;
    });
  },
};

// Without a path, nothing ran: the variables do not fit, or there is no operation of that name.
const refusedBeforeRun = (sender: Sender | undefined, errors: readonly GraphQLError[]) =>
  errors.every(({ path }) => path)
    ? [...errors]
    : faultsFor(
        sender,
        errors.map((error) => (error.path ? error : withCode(error))),
      );

/** The faults of a document that its sender is told: without a token, only that one is required. */
const faultsFor = (sender: Sender | undefined, faults: GraphQLError[]): GraphQLError[] =>
  isStranger(sender) ? [tokenRequired()] : faults;

const faultFor = (sender: Sender | undefined, fault: GraphQLError): GraphQLError =>
  faultsFor(sender, [fault])[0] ?? fault;

const isStranger = (sender: Sender | undefined) =>
  sender !== undefined && 'caller' in sender && sender.caller === null;

/** {@link unauthenticated} instead of a fault whose status the library would choose by the media type. */
function tokenRequired(): GraphQLError {
  const error = unauthenticated();
  // It sets this of an error in a document, whatever it was.
  const spec = { get: () => false, set: () => undefined };
  Object.defineProperty(error.extensions['http'], 'spec', spec);
  return error;
}

// Only documents of callers with a valid token are cached. At the Experience API nobody has one yet.
const isKnown = (sender: Sender | undefined) =>
  sender !== undefined && 'caller' in sender && sender.caller !== null;

/** An operation that a transport has read from a message of its own. */
export interface Given {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What a transport sends with the operation of a request, if it is not GraphQL's own. */
export interface ServerContext {
  readonly call: Call;
  readonly sender: Sender;
  /** The parsed body of an HTTP request, or why it could not be read. */
  readonly sent?: { readonly params: unknown } | { readonly fault: unknown };
  /** The `Idempotency-Key` of an HTTP request; absent without one. */
  readonly once?: Once | undefined;
  readonly place?: Place | undefined;
  readonly transport?: Transport;
  /** Sent by a page of the console, with its cookie. */
  readonly isConsole?: boolean;
  /** The one kind of operation that is taken; absent: any. */
  readonly only?: OperationTypeNode;
  /** Whether it is a dry run though its document does not say so. */
  readonly isDryRun?: boolean;
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

const answerTypes =
  'application/graphql-response+json or application/json, and for subscriptions text/event-stream (or graphql-transport-ws over WebSocket)';

// The library refuses these with no body.
const refusals: Readonly<Record<number, string>> = {
  405: 'This path takes GET and POST.',
  406: `The answer is ${answerTypes}.`,
};

const refusalPlugin: Plugin = {
  onResponse({ response, setResponse, fetchAPI }) {
    const message = refusals[response.status];
    if (message === undefined) return;
    const error = badRequest(response.status, message);
    const headers = new fetchAPI.Headers(response.headers);
    headers.delete('content-length');
    headers.set('content-type', 'application/json; charset=utf-8');
    const body = JSON.stringify({ errors: [publicError(error)] });
    setResponse(new fetchAPI.Response(body, { status: response.status, headers }));
  },
};

/** Tells clients where the description of `/graphql` is. The console's pages have no use for it. */
const challengePlugin = (services: Services): Plugin<object, ServerContext> => ({
  onResponse({ response: { headers }, serverContext }) {
    const challenge = headers.get('www-authenticate');
    if (challenge === null || serverContext.isConsole) return;
    headers.set('www-authenticate', challengeAt(services, '/graphql', challenge));
  },
});

const noCache = { get: () => undefined, set: () => undefined };

/** Switches the library's caches off: they keep documents that do not parse, and count documents instead of bytes. */
export const parserAndValidationCache = { documentCache: noCache, errorCache: noCache };

// The token is in a header and no cookie is read, so pages of any origin may call with one.
const anyOrigin = ({ database }: Services) => ({
  origin: '*',
  credentials: false,
  methods: ['GET', 'POST'],
  maxAge: 3600,
  exposedHeaders: [replayedHeader, ...dpopHeaders, ...(database.replicas ? [positionHeader] : [])],
});

/** The GraphQL server, without a transport. */
export type GraphQLServer = ReturnType<typeof createGraphQLServer>;

/** Makes the GraphQL server: queries, mutations, GraphiQL. Every fault is masked, and logged with its request's id. */
export function createGraphQLServer(services: Services, connections: Connections, tail: Tail) {
  const { introspection } = services.config;
  const cors = anyOrigin(services);
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
    cors: (_request, context) => !(context as ServerContext).isConsole && cors,
    batching: false,
    graphiql: false,
    multipart: false,
    parserAndValidationCache,
    context: ({ sender, call, once, place }) => contextOf(services, sender, call, { once, place }),
    maskedErrors: {
      maskError(error) {
        const { id, log } = scope.getStore() ?? { id: 'none', log: services.log };
        return maskFault(error, id, log);
      },
    },
    plugins: [
      sentPlugin,
      refusalPlugin,
      challengePlugin(services),
      contractPlugin(introspection),
      suggestionsPlugin(services.config),
      onlyPlugin,
      safeWritesPlugin,
      ...(services.database.replicas ? [replicasPlugin] : []),
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
    const context: ServerContext = {
      call: callOf(request),
      sender,
      isConsole,
      place: placeOf(services, headers, (name, value) => reply.raw.setHeader(name, value)),
      ...keyed(headers['idempotency-key'], sent, () => reply.raw.setHeader(replayedHeader, 'true')),
    };
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    // Only the parts of the request that Yoga needs. With the request itself, Yoga would remove the socket's timeout
    // and read the body. It would make a URL of the host that a client names, and fail if that is none.
    const asked = { method, headers: { ...headers, host: 'localhost' }, url, body: { sent: true } };
    await scope.run({ id, log: log as Logger }, () => listener(asked, reply.raw, context));
  };
}

/** Runs an operation for another transport, as `/graphql` would. */
export async function executeInProcess(
  { yoga, scope }: GraphQLServer,
  { id, log }: Pick<FastifyRequest, 'id' | 'log'>,
  context: ServerContext & { readonly sent: { readonly params: Given } },
): Promise<FormattedExecutionResult> {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const response = await scope.run({ id, log: log as Logger }, () =>
    yoga.fetch('http://localhost/graphql', { method: 'POST', headers }, context),
  );
  return response.json();
}

/** What was sent, and its `Idempotency-Key`. A malformed key is a fault of what was sent. */
function keyed(
  header: string | string[] | undefined,
  sent: ServerContext['sent'],
  replayed: () => void,
): Pick<ServerContext, 'sent' | 'once'> {
  const asSent = sent ? { sent } : {};
  try {
    return { ...asSent, once: onceOf(header, replayed) };
  } catch (fault) {
    return sent && 'fault' in sent ? asSent : { sent: { fault } };
  }
}

/** Answers a request that waited for its turn for too long, without looking at it. */
export function sendOverloaded(reply: FastifyReply, { message }: Overloaded): FastifyReply {
  const { status, headers = {} } = failures.OVERLOADED;
  const errors = [{ message, extensions: { code: 'OVERLOADED' } }];
  return reply.code(status).headers(headers).header('cache-control', 'no-store').send({ errors });
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
      if (error instanceof Overloaded) {
        return sendOverloaded(reply.header('access-control-allow-origin', '*'), error);
      }
      const fault = bodyFaultOf(error, contentTypes);
      return answer(request, reply, { fault: fault ? errorOfBody(fault) : error });
    });
    const graphiql = services.config.graphiql ? mountGraphiQL(graphql) : undefined;
    graphql.route({
      url: '/graphql',
      // Others are refused with what is taken.
      method: ['GET', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'],
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
