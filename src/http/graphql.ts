import { AsyncLocalStorage } from 'node:async_hooks';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
} from 'graphql';
import { createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import { TokenFault } from '../auth/access-token.ts';
import { authenticate, type Caller } from '../auth/caller.ts';
import { type Services, systemActor } from '../auth/context.ts';
import { sqlState } from '../db/transaction.ts';
import { createFeed } from '../events/feed.ts';
import type { Tail } from '../events/tail.ts';
import { limits } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { limitAliases } from '../graphql/limit-aliases.ts';
import {
  type RequestErrorCode,
  requestError,
  requestErrorCodes,
} from '../graphql/request-error.ts';
import { schema } from '../schema.ts';
import { type Connections, subscriptionPlugin, type Transport } from './subscriptions.ts';

/** The largest request, or message over WebSocket. */
export const maxBodyBytes = 4 * 1024 * 1024;

/** The request that an operation came with: its id is the trace id of all that follows from it. */
interface RequestScope {
  readonly id: string;
  readonly log: Logger;
}

/**
 * Makes what resolvers see, from the credentials that came with a request or a connection.
 *
 * @throws UNAUTHENTICATED when a token came that is not one to accept; without one the caller is null.
 */
export async function createGraphQLContext(
  services: Services,
  authorization: string | null | undefined,
  traceId: string,
): Promise<GraphQLContext> {
  try {
    const caller = authorization ? await authenticate(services, authorization) : null;
    return { ...services, caller, actor: caller?.actor ?? systemActor, traceId };
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    throw requestError('UNAUTHENTICATED', `The access token is refused: ${error.message}.`);
  }
}

// The status of a document that does not parse, or does not fit the schema, is for GraphQL over HTTP to say:
// it depends on the media type asked for.
const specified = { spec: true, status: 400 };
const badInput = { status: 400 };

// The libraries have codes of their own, such as BAD_REQUEST and OPERATION_RESOLUTION_FAILURE.
const isOurs = (code: unknown) => requestErrorCodes.has(code as RequestErrorCode);

function withCode(error: GraphQLError, code: RequestErrorCode, http: object): GraphQLError {
  if (isOurs(error.extensions['code'])) return error;
  const { message, nodes, source, positions, path, originalError } = error;
  const extensions = { ...error.extensions, code, http };
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}

const withoutSuggestion = (error: GraphQLError): GraphQLError => {
  const { nodes, source, positions, extensions } = error;
  const message = error.message.replace(/ Did you mean .*$/s, '');
  return new GraphQLError(message, { nodes, source, positions, extensions });
};

/** Keeps documents within their limits, and gives every error the code that the contract names. */
function contractPlugin(introspection: boolean): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => parse(source, { ...options, maxTokens: limits.tokens }));
      return ({ result, replaceParseResult }) => {
        if (result instanceof GraphQLError) {
          replaceParseResult(withCode(result, 'GRAPHQL_PARSE_FAILED', specified) as never);
        }
      };
    },
    onValidate({ addValidationRule }) {
      addValidationRule(limitAliases);
      if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule);
      return ({ valid, result, setResult }) => {
        if (valid) return;
        const errors = result as readonly GraphQLError[];
        const told = introspection ? errors : errors.map(withoutSuggestion);
        setResult(told.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED', specified)));
      };
    },
    onExecute: () => ({
      onExecuteDone({ result, setResult }) {
        if (!('errors' in result) || result.data !== undefined) return;
        // Nothing ran: the variables do not fit, or no operation of that name is there.
        const errors = result.errors?.map((error) =>
          error.path ? error : withCode(error, 'BAD_USER_INPUT', badInput),
        );
        setResult({ ...result, ...(errors ? { errors } : {}) });
      },
    }),
    onSubscribe: () => ({
      onSubscribeResult({ result, setResult }) {
        if (isAsyncIterable(result) || !result.errors) return;
        const errors = result.errors.map((error) =>
          error.path ? error : withCode(error, 'BAD_USER_INPUT', badInput),
        );
        setResult({ ...result, errors });
      },
    }),
  };
}

interface ServerContext {
  readonly traceId: string;
  readonly authorization?: string | undefined;
  /** Who calls, where the connection has told already. */
  readonly caller?: Caller | undefined;
  readonly transport?: Transport;
}

/** The GraphQL server, without a transport. */
export type GraphQLServer = ReturnType<typeof createGraphQLServer>;

/** Makes the GraphQL server: queries, mutations, GraphiQL; every fault masked and logged under its request's id. */
export function createGraphQLServer(services: Services, connections: Connections, tail: Tail) {
  const { graphiql, introspection } = services.config;
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
    // The token is in a header and no cookie is read, so any page that has a token may call.
    cors: { origin: '*', credentials: false, methods: ['GET', 'POST'], maxAge: 3600 },
    batching: false,
    // Brought along: the default loads its scripts from a public CDN.
    renderGraphiQL,
    graphiql: graphiql
      ? { title: 'Signet', defaultQuery: graphiqlGreeting, shouldPersistHeaders: false }
      : false,
    parserAndValidationCache: true,
    context: ({ caller, authorization, traceId }) =>
      caller
        ? { ...services, caller, actor: caller.actor, traceId }
        : createGraphQLContext(services, authorization, traceId),
    maskedErrors: {
      maskError(error) {
        const { id, log } = scope.getStore() ?? { id: 'none', log: services.log };
        return maskFault(error, id, log);
      },
    },
    plugins: [contractPlugin(introspection), subscriptionPlugin(feed, connections)],
  });
  return { yoga, scope, within };
}

const graphiqlGreeting = `# Put {"Authorization": "Bearer <access token>"} under "Headers" below.
query Users {
  users(first: 10) {
    nodes: edges { node { id name username primaryEmail } }
  }
}
`;

/** What a client is told of a fault: a masked message, where the error was not written for it; the log has the rest. */
export function maskFault(error: unknown, requestId: string, log: Logger): GraphQLError {
  if (error instanceof GraphQLError && isMeant(error)) {
    if (!isOurs(error.extensions['code'])) error.extensions['code'] = 'BAD_USER_INPUT';
    return error;
  }
  const { nodes, source, positions, path } = error instanceof GraphQLError ? error : ({} as never);
  const refusal = refusals.get(sqlState(originalOf(error)) ?? '');
  if (refusal) {
    const { message, extensions } = requestError('BAD_USER_INPUT', refusal);
    return new GraphQLError(message, { nodes, source, positions, path, extensions });
  }
  log.error({ err: error, requestId }, 'a GraphQL operation failed');
  return new GraphQLError(
    'Something failed inside. The log has the details under the request id.',
    {
      nodes,
      source,
      positions,
      path,
      extensions: { code: 'INTERNAL_SERVER_ERROR', requestId, http: { status: 500 } },
    },
  );
}

const originalOf = (error: unknown) =>
  error instanceof GraphQLError ? error.originalError : error;

// An operation names it among its issues where it looks at a value itself. An id, a search or an instant is only
// looked for, and PostgreSQL refuses what it cannot hold, by its SQLSTATE.
const refusals = new Map([
  // character_not_in_repertoire
  ['22021', 'Text cannot hold a NUL character.'],
  // datetime_field_overflow
  ['22008', 'An instant lies outside of the years that can be asked for.'],
]);

/** A result as a client may see it, where it does not pass through Yoga's own response. */
export function publicResult(
  { errors, ...result }: ExecutionResult,
  requestId: string,
  log: Logger,
): FormattedExecutionResult {
  return errors ? { ...result, errors: publicErrors(errors, requestId, log) } : result;
}

/** Errors as a client may see them, each masked where it was not written for it. */
export const publicErrors = (errors: readonly unknown[], requestId: string, log: Logger) =>
  errors.map((error) => {
    const { extensions: { http: _, ...extensions } = {}, ...told } = maskFault(
      error,
      requestId,
      log,
    ).toJSON();
    // What GraphQL itself has to say about a request carries no code.
    return { ...told, extensions: { code: 'BAD_USER_INPUT', ...extensions } };
  });

// A GraphQLError was written for the client; one that wraps something else was not.
function isMeant({ originalError }: GraphQLError): boolean {
  return originalError == null || (originalError instanceof GraphQLError && isMeant(originalError));
}

/** Mounts `/graphql` over HTTP. */
export function registerGraphQL(http: FastifyInstance, { yoga, scope }: GraphQLServer): void {
  http.register(async (graphql) => {
    // The body goes to Yoga as it came, within a bound.
    graphql.removeAllContentTypeParsers();
    graphql.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: maxBodyBytes },
      (_request, body, done) => done(null, body),
    );
    graphql.route({
      url: '/graphql',
      method: ['GET', 'POST', 'OPTIONS'],
      handler: async (request, reply) => {
        reply.hijack();
        const { id, log } = request;
        await scope.run({ id, log: log as Logger }, () =>
          yoga.handle(withBody(request), reply.raw, {
            authorization: request.headers.authorization,
            traceId: id,
          }),
        );
      },
    });
  });
}

const withBody = ({ raw, body }: FastifyRequest) => Object.assign(raw, { body });
