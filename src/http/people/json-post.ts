import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { GraphQLContext } from '../../graphql/context.ts';
import { maskFault, publicError } from '../../graphql/public-error.ts';
import { requestError } from '../../graphql/request-error.ts';
import type { Services } from '../../services.ts';
import { HashingBusy } from '../../users/hash-queue.ts';
import { contractPlugin, parserAndValidationCache } from '../graphql.ts';
import { bodyFaultOf, errorOfBody } from '../json-body.ts';
import { suggestionsPlugin } from '../suggestions.ts';
import { oneRootFieldPlugin } from './one-root-field.ts';

const contentTypes = ['application/json'];
const graphqlType = 'application/graphql-response+json';

/** A request as resolvers' context is made from it. Yoga has its own `request`. */
export interface AskedRequest {
  readonly asked: FastifyRequest;
  readonly reply: FastifyReply;
  /** Collects cookies for the answer. */
  readonly cookies: string[];
}

/** A GraphQL API for people: JSON by POST only, one root field for each request. */
export interface PersonApi {
  readonly path: string;
  readonly schema: GraphQLSchema;
  readonly maxBodyBytes: number;
  /** Makes the context of resolvers. */
  readonly context: (asked: AskedRequest) => Promise<GraphQLContext>;
}

/** Mounts an API for people in a scope of its own. */
export function mountJsonPost(
  scope: FastifyInstance,
  services: Services,
  { path, schema, maxBodyBytes, context }: PersonApi,
): void {
  const answering = new AsyncLocalStorage<FastifyRequest>();
  const yoga = createYoga<AskedRequest, GraphQLContext>({
    schema,
    graphqlEndpoint: path,
    landingPage: false,
    logging: false,
    graphiql: false,
    cors: false,
    batching: false,
    parserAndValidationCache,
    context,
    maskedErrors: {
      maskError(error) {
        if (error instanceof GraphQLError && error.originalError instanceof HashingBusy) {
          return requestError(
            'RATE_LIMITED',
            'Too many passwords are being checked. Try again soon.',
          );
        }
        const request = answering.getStore();
        return maskFault(error, request?.id ?? 'none', (request?.log as Logger) ?? services.log);
      },
    },
    plugins: [
      contractPlugin(services.config.introspection),
      suggestionsPlugin(services.config),
      oneRootFieldPlugin,
    ],
  });

  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: maxBodyBytes },
    (_request, body, done) => done(null, body),
  );
  scope.setErrorHandler((error, request, reply) => {
    const fault = bodyFaultOf(error, contentTypes);
    const message = `The body must be application/json of at most ${maxBodyBytes} bytes.`;
    const told = fault
      ? errorOfBody({ code: fault.code, message })
      : maskFault(error, request.id, request.log as Logger);
    const { http = {} } = told.extensions as { http?: { status?: number; headers?: object } };
    return reply
      .code(http.status ?? 500)
      .headers({ ...http.headers })
      .send({ errors: [publicError(told)] });
  });
  scope.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url: path,
    handler: async (_request, reply) => {
      const message = 'Only POST is taken here.';
      const errors = [{ message, extensions: { code: 'BAD_USER_INPUT' } }];
      return reply
        .code(405)
        .headers({ allow: 'POST', 'cache-control': 'no-store' })
        .send({ errors });
    },
  });
  scope.post(path, async (request, reply) => {
    const cookies: string[] = [];
    // Other media types that a browser prefers are ignored.
    const type = request.headers.accept?.includes(graphqlType) ? graphqlType : 'application/json';
    const headers = { 'content-type': 'application/json', accept: type };
    const init = { method: 'POST', headers, body: String(request.body ?? '') };
    const response = await answering.run(request, () =>
      yoga.fetch(`http://localhost${path}`, init, { asked: request, reply, cookies }),
    );
    for (const [name, value] of response.headers) reply.header(name, value);
    if (cookies.length > 0) reply.header('set-cookie', cookies);
    const body = await response.text();
    // There is only one media type, so a document that did not run has one status.
    const hasRun = Object.hasOwn(JSON.parse(body) as object, 'data');
    return reply
      .code(response.status === 200 && !hasRun ? 400 : response.status)
      .header('cache-control', 'no-store')
      .send(Buffer.from(body));
  });
}

/** Answers an address that sends too many requests. */
export const refuseAddress = (reply: FastifyReply): FastifyReply =>
  reply.send({
    errors: [
      {
        message: 'Too many requests come from this address.',
        extensions: { code: 'RATE_LIMITED' },
      },
    ],
  });
