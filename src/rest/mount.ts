import cors from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, execute, parse } from 'graphql';
import type { Logger } from 'pino';
import type { Caller } from '../auth/caller.ts';
import { managementScopes } from '../auth/scopes.ts';
import { isFailureCode, type RequestErrorCode } from '../failures.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { introspectionOptions } from '../graphql/introspection.ts';
import { maskFault, publicExtensions } from '../graphql/public-error.ts';
import { requestError, unauthenticated } from '../graphql/request-error.ts';
import { contextOf, identify } from '../http/identify.ts';
import { bodyFaultOf, takeJson } from '../http/json-body.ts';
import { type Problem, sendProblem } from '../http/problem.ts';
import { inTurn } from '../http/turns.ts';
import { schema } from '../schema.ts';
import type { Services } from '../services.ts';
import { createOpenApi } from './openapi.ts';
import { createRestOperation, type RestOperation, readParameter } from './operation.ts';
import { restRoutes } from './routes.ts';

const contentTypes = ['application/json'];

type Values = Record<string, unknown>;
type Request = FastifyRequest<{ Params: Record<string, string>; Querystring: Values }>;

/** Every route with its GraphQL operation. */
export const restOperations = restRoutes.map((route) => createRestOperation(schema, route));

/**
 * Mounts the management API as REST under `/api`. A route runs its GraphQL operation in process, so rights, rules,
 * errors and events are the same; only the form is HTTP's. Failures are problem documents (RFC 9457).
 */
export async function mountRest(http: FastifyInstance, services: Services): Promise<void> {
  await http.register(
    async (api) => {
      // As for /graphql: the token is in a header, so any page with a token may call.
      await api.register(cors, { origin: '*', maxAge: 3600 });
      takeJson(api, services, contentTypes);
      api.setNotFoundHandler((request, reply) =>
        sendProblem(reply, {
          code: 'UNKNOWN_ROUTE',
          detail: `There is no ${request.method} ${request.url.split('?')[0]}.`,
        }),
      );
      api.setErrorHandler((error: Error, request, reply) =>
        sendProblem(reply, problemOf(error, request)),
      );

      for (const operation of restOperations) {
        const { method, path } = operation.route;
        api.route({
          method,
          url: path,
          handler: (request, reply) => answer(services, operation, request as Request, reply),
        });
      }

      const openApi = createOpenApi(restOperations, services.baseUrl);
      api.get('/openapi.json', async (request, reply) => {
        if (!services.config.introspection) {
          reply.header('cache-control', 'no-store');
          assertKnown(contextOf(services, await identify(services, request), request.id).caller);
        }
        return openApi;
      });
      refuseOtherMethods(api, [...restRoutes, { method: 'GET', path: '/openapi.json' } as const]);
    },
    { prefix: '/api' },
  );
}

/**
 * Checks that the caller may use the management API at all.
 *
 * @throws UNAUTHENTICATED without a token, FORBIDDEN if it has no scope.
 */
function assertKnown(caller: Caller | null): void {
  if (!caller) throw unauthenticated();
  if ([...managementScopes.keys()].some((scope) => caller.scopes.has(scope))) return;
  throw requestError('FORBIDDEN', 'The access token has no scope of the management API.');
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

function refuseOtherMethods(
  api: FastifyInstance,
  routes: readonly { readonly method: string; readonly path: string }[],
): void {
  for (const [path, taken] of Map.groupBy(routes, (route) => route.path)) {
    const allowed = taken.map(({ method }) => method);
    api.route({
      method: methods.filter((method) => !allowed.includes(method)),
      url: path,
      handler: async (_request, reply) => {
        const allow = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed;
        reply.header('allow', allow.join(', '));
        return sendProblem(reply, {
          code: 'METHOD_NOT_ALLOWED',
          detail: `This path takes ${allow.join(', ')}.`,
        });
      },
    });
  }
}

async function answer(
  services: Services,
  operation: RestOperation,
  request: Request,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.header('cache-control', 'no-store');
  const context = contextOf(services, await identify(services, request), request.id);
  // Reported before other faults of the request.
  if (!context.caller) throw unauthenticated();
  const variables = readVariables(operation, request);
  const id = await findMisplaced(operation, request, context);
  if (id !== undefined) return sendProblem(reply, notFound(id));

  const data = dataOf(await run(operation.document, variables, context));
  switch (operation.kind) {
    case 'mutation':
      return answerMutation(operation, data, reply);
    case 'record': {
      const record = data[operation.answerField];
      return record === null
        ? sendProblem(reply, notFound(String(variables['id'])))
        : reply.send({ [operation.answerField]: record });
    }
    case 'list': {
      const { operation: root, list } = operation.route;
      const holder = list === undefined ? data : (data[root] as Values | null);
      if (!holder) return sendProblem(reply, notFound(String(variables['id'])));
      const { edges, ...rest } = holder[operation.answerField] as { edges: { node: unknown }[] };
      return reply.send({ [operation.answerField]: edges.map(({ node }) => node), ...rest });
    }
  }
}

function answerMutation(
  { answerField, route }: RestOperation,
  data: Values,
  reply: FastifyReply,
): FastifyReply {
  const { __typename: typename, ...result } = data[answerField] as Values;
  if (String(typename).endsWith('Payload')) {
    return reply.code(/^create[A-Z]/.test(route.operation) ? 201 : 200).send(result);
  }
  const { code, message, ...members } = result;
  if (!isFailureCode(code)) throw new Error(`A result has the code ${code}, which no problem has.`);
  return sendProblem(reply, { code, detail: String(message), members });
}

const notFound = (id: string): Problem => ({
  code: 'NOT_FOUND',
  detail: `Nothing was found under the id ${id}.`,
  members: { id },
});

const run = async (
  document: RestOperation['document'],
  variableValues: Values,
  contextValue: GraphQLContext,
) =>
  inTurn(() =>
    execute({
      schema,
      document,
      variableValues,
      contextValue,
      ...introspectionOptions(contextValue.config),
    }),
  );

function dataOf({ data, errors }: ExecutionResult): Values {
  const [error] = errors ?? [];
  if (error) throw error;
  if (!data) throw new Error('An operation came to nothing and to no error.');
  return data;
}

/** The id of a record that does not belong to the record in the path, such as a scope of another resource. */
async function findMisplaced(
  { route: { within }, parameters }: RestOperation,
  { params }: Request,
  context: GraphQLContext,
): Promise<string | undefined> {
  const [idParameter] = [...parameters].find(([, field]) => field === 'id') ?? [];
  if (!within || idParameter === undefined) return undefined;
  const { parameter, field, type } = within;
  const document = parse(
    `query ($id: ID!) { node(id: $id) { ... on ${type} { owner: ${field} { id } } } }`,
  );
  const { data } = await run(document, { id: params[idParameter] }, context);
  // The operation itself answers when the caller may not look, or nothing is found.
  const owner = (data as { node?: { owner?: { id: string } } | null } | null)?.node?.owner;
  return owner && owner.id !== params[parameter] ? params[idParameter] : undefined;
}

function readVariables(operation: RestOperation, request: Request): Values {
  const fromPath = Object.fromEntries(
    [...operation.parameters].map(([parameter, field]) => [field, request.params[parameter]]),
  );
  if (operation.kind !== 'mutation') {
    return { ...fromPath, ...readQuery(operation, request.query) };
  }
  refuseUnknown(Object.keys(request.query), [], 'query parameter');
  const body = request.body ?? {};
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw requestError('BAD_USER_INPUT', 'The body is not a JSON object.');
  }
  refuseUnknown(
    Object.keys(body),
    operation.bodyFields.map(({ name }) => name),
    'field',
  );
  return { input: { ...body, ...fromPath } };
}

function readQuery({ kind, queryParameters }: RestOperation, query: Values): Values {
  const names = queryParameters.map(({ name }) => name);
  refuseUnknown(
    Object.keys(query),
    kind === 'list' ? [...names, 'totalCount'] : names,
    'query parameter',
  );
  const variables: Values = kind === 'list' ? { totalCount: query['totalCount'] === 'true' } : {};
  for (const { name, type, target } of queryParameters) {
    const [variable, field] = target;
    const given = query[name] as string | string[] | undefined;
    if (given === undefined) continue;
    const value = readParameter(type, given);
    variables[variable] =
      field === undefined ? value : { ...(variables[variable] as Values), [field]: value };
  }
  return variables;
}

function refuseUnknown(given: readonly string[], known: readonly string[], what: string): void {
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw requestError('BAD_USER_INPUT', `There is no ${what} ${unknown.join(', ')} here.`);
}

function problemOf(error: unknown, { id, log }: FastifyRequest): Problem {
  const fault = bodyFaultOf(error, contentTypes);
  if (fault) return { code: fault.code, detail: fault.message };
  const masked = maskFault(error, id, log as Logger);
  // The mask leaves no error without a code.
  const { code, ...members } = publicExtensions(masked);
  return { code: code as RequestErrorCode, detail: masked.message, members };
}
