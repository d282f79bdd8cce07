import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, execute, getVariableValues, Kind, parse } from 'graphql';
import { describeChallenges } from '../auth/protected-resource.ts';
import { isFailureCode } from '../failures.ts';
import { assertKnown } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { introspectionOptions } from '../graphql/introspection.ts';
import { dryRun, rehearse } from '../graphql/mutations/rehearsal.ts';
import { onceOf, replayedHeader } from '../graphql/mutations/safe-writes.ts';
import { contextForReading, placeOf, positionHeader } from '../graphql/operations/reading.ts';
import { requestError, unauthenticated } from '../graphql/request-error.ts';
import { senderInSession } from '../http/console/session.ts';
import { contextOf, dpopHeaders, identify } from '../http/identify.ts';
import { BodyFault, bodyRule, takeJson } from '../http/json-body.ts';
import {
  type Problem,
  problemOf,
  refuseOtherMethods,
  routeMethods,
  sendProblem,
} from '../http/problem.ts';
import { schema } from '../schema.ts';
import type { Services } from '../services.ts';
import { callOf } from '../web/call.ts';
import { isOwnOrigin } from '../web/own-origin.ts';
import { createConfigurationSchema } from './configuration-schema.ts';
import { answerExport, exportParameters, linesOfJson } from './export-events.ts';
import { contentTypes, contentTypesOf, patchTypes } from './media-types.ts';
import { createOpenApi } from './openapi.ts';
import { createRestOperation, type RestOperation, readParameter } from './operation.ts';
import { restRoutes } from './routes.ts';

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
      allowAnyOrigin(api, services);
      describeChallenges(api, services, '/api');
      takeJson(api, services, patchTypes);
      api.addHook('preParsing', async (request) => {
        const [given = ''] = (request.headers['content-type'] ?? '').split(';');
        const type = given.trim().toLowerCase();
        if (
          contentTypesOf({ method: 'PATCH' }).includes(type) &&
          !contentTypesOf(request).includes(type)
        )
          throw new BodyFault('UNSUPPORTED_MEDIA_TYPE', bodyRule(contentTypes));
      });
      api.setNotFoundHandler((request, reply) =>
        sendProblem(reply, {
          code: 'UNKNOWN_ROUTE',
          detail: `There is no ${request.method} ${request.url.split('?')[0]}.`,
        }),
      );
      api.setErrorHandler((error: Error, request, reply) =>
        sendProblem(reply, problemOf(error, request, contentTypesOf(request))),
      );

      for (const operation of restOperations) {
        const { method, path } = operation.route;
        api.route({
          method,
          url: path,
          config: { turn: (request) => (isExport(operation, request) ? 'export' : 'request') },
          handler: (request, reply) => answer(services, operation, request as Request, reply),
        });
      }

      const openApi = createOpenApi(restOperations, services.baseUrl);
      const documents = {
        '/openapi.json': openApi,
        '/configuration.schema.json': createConfigurationSchema(schema, services.baseUrl),
      };
      for (const [url, document] of Object.entries(documents)) {
        api.get(url, async (request, reply) => {
          if (!services.config.introspection) {
            reply.header('cache-control', 'no-store');
            assertKnown(
              contextOf(services, await identify(services, request), callOf(request)).caller,
            );
          }
          return document;
        });
      }
      refuseOtherMethods(api, [
        ...restRoutes,
        ...Object.keys(documents).map((path) => ({ method: 'GET', path }) as const),
      ]);
    },
    { prefix: '/api' },
  );
  mountConsoleExport(http, services);
}

/**
 * Mounts `GET /console/export/events`: the export of `/api/events` for whoever is signed in to the console. A link leads
 * there, so that the browser writes to a file as it reads; a link has no header of ours, and the cookie is not sent for
 * one of another site.
 */
function mountConsoleExport(http: FastifyInstance, services: Services): void {
  const operation = restOperations.find(({ route }) => route.operation === 'events');
  if (!operation) throw new Error('No route lists the events.');
  http.register(async (scope) => {
    scope.setErrorHandler((error: Error, request, reply) =>
      sendProblem(reply, problemOf(error, request, contentTypes)),
    );
    scope.get('/console/export/events', { config: { turn: 'export' } }, async (request, reply) => {
      reply.headers({
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
      if (!isOwnOrigin(services, request.headers, { isRequired: false }))
        throw requestError('FORBIDDEN', 'This is for pages of this service alone.');
      const sender = await senderInSession(services, request);
      const context = contextOf(services, sender, callOf(request));
      const variables = readVariables(operation, request as Request);
      refuseUnknown(Object.keys((request as Request).query), exportParameters, 'query parameter');
      reply.header('content-disposition', 'attachment; filename="events.ndjson"');
      return answerExport(coerce(operation, variables), context, reply);
    });
  });
}

/** As for /graphql: the token is in a header, so pages of any origin may call with one (Fetch, CORS protocol). */
function allowAnyOrigin(api: FastifyInstance, { database }: Services): void {
  const replicas = database.replicas ? [positionHeader] : [];
  const exposed = ['ETag', 'Accept-Patch', replayedHeader, ...dpopHeaders, ...replicas].join(', ');
  api.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': exposed,
    });
    // RFC 5789 §3.1
    if (request.method === 'PATCH' || request.method === 'OPTIONS')
      reply.header('accept-patch', patchTypes.join(', '));
    if (request.method !== 'OPTIONS') return;
    return reply
      .code(204)
      .headers({
        'access-control-allow-methods': routeMethods.join(', '),
        'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '*',
        'access-control-max-age': '3600',
        vary: 'Access-Control-Request-Headers',
      })
      .send();
  });
}

async function answer(
  services: Services,
  operation: RestOperation,
  request: Request,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.header('cache-control', 'no-store');
  const context = contextOf(services, await identify(services, request), callOf(request), {
    place: placeOf(services, request.headers, (name, value) => void reply.header(name, value)),
  });
  // Reported before other faults of the request.
  if (!context.caller) throw unauthenticated();
  const variables = readVariables(operation, request);
  if (isExport(operation, request)) {
    refuseUnknown(Object.keys(request.query), exportParameters, 'query parameter of an export');
    return answerExport(coerce(operation, variables), context, reply);
  }
  const isMutation = operation.kind === 'mutation';
  // What decides about a change reads the primary.
  const id = await findMisplaced(
    operation,
    request,
    isMutation ? { ...context, place: undefined } : context,
  );
  if (id !== undefined) return sendProblem(reply, notFound(id));

  if (isMutation) return change(operation, variables, context, request, reply);
  const data = dataOf(await run(operation.document, variables, context));
  switch (operation.kind) {
    case 'record': {
      const record = data[operation.answerField] as Values | null;
      if (record === null) return sendProblem(reply, notFound(String(variables['id'])));
      const tag = tagOf(record);
      if (tag === undefined) return reply.send({ [operation.answerField]: record });
      reply.header('etag', tag);
      return isKnownTag(request.headers['if-none-match'], tag)
        ? reply.code(304).send()
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

const isExport = ({ route }: RestOperation, { headers }: Pick<FastifyRequest, 'headers'>) =>
  route.operation === 'events' && headers.accept?.includes(linesOfJson) === true;

/** The arguments of a document as its resolvers get them. */
function coerce({ document }: RestOperation, variables: Values): Values {
  const [definition] = document.definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION)
    throw new Error('A document has no operation.');
  const { variableValues, errors } = getVariableValues(
    schema,
    definition.variableDefinitions ?? [],
    variables,
  );
  if (errors) throw errors[0];
  return variableValues.coerced;
}

/** The entity tag of a record (RFC 9110 §8.8.3); undefined for what has no version. */
function tagOf(record: unknown): string | undefined {
  const version = (record as { readonly version?: unknown } | null)?.version;
  return typeof version === 'number' ? `"${version}"` : undefined;
}

/** Whether `If-None-Match` names a tag (RFC 9110 §13.1.2). */
const isKnownTag = (header: string | undefined, tag: string): boolean =>
  header?.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, ''))) === true;

/**
 * The version that `If-Match` asks for (RFC 9110 §13.1.1); undefined for any.
 *
 * @throws BAD_USER_INPUT when it is no version, or the route's records have none.
 */
function versionIn(header: string | undefined, { bodyFields }: RestOperation): number | undefined {
  if (header === undefined) return undefined;
  if (!bodyFields.some(({ name }) => name === 'expectedVersion'))
    throw requestError('BAD_USER_INPUT', 'The records of this route have no version to match.');
  if (header.trim() === '*') return undefined;
  const [, version] = /^\s*"(\d{1,9})"\s*$/.exec(header) ?? [];
  if (version === undefined)
    throw requestError('BAD_USER_INPUT', 'The header If-Match has the ETag of one version, or *.');
  return Number(version);
}

async function change(
  operation: RestOperation,
  variables: Values,
  context: GraphQLContext,
  { headers, query }: Request,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const expectedVersion = versionIn(headers['if-match'], operation);
  if (expectedVersion !== undefined)
    variables = { input: { ...(variables['input'] as Values), expectedVersion } };
  const once = onceOf(headers['idempotency-key'], () => reply.header(replayedHeader, 'true'));
  const execute = async () => {
    const result = await run(operation.document, variables, { ...context, once });
    await context.place?.tell();
    return result;
  };
  if (query[dryRun.name] !== 'true')
    return answerMutation(operation, dataOf(await execute()), reply);
  const { extensions, ...result } = await rehearse(context, execute);
  return answerMutation(operation, dataOf(result), reply, extensions);
}

function answerMutation(
  { answerField, route }: RestOperation,
  data: Values,
  reply: FastifyReply,
  extensions: ExecutionResult['extensions'] = {},
): FastifyReply {
  const { __typename: typename, ...result } = data[answerField] as Values;
  if (String(typename).endsWith('Payload')) {
    const status = /^create[A-Z]/.test(route.operation) ? 201 : 200;
    const [tag] = Object.values(result).flatMap((record) => tagOf(record) ?? []);
    if (tag !== undefined && extensions[dryRun.name] === undefined) reply.header('etag', tag);
    return reply.code(status).send({ ...result, ...extensions });
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

async function run(
  document: RestOperation['document'],
  variableValues: Values,
  context: GraphQLContext,
) {
  const asked = { schema, document, variableValues };
  return execute({
    ...asked,
    contextValue: contextForReading(context, asked),
    ...introspectionOptions(context.config),
  });
}

function dataOf({ data, errors }: ExecutionResult): Values {
  const [error] = errors ?? [];
  if (error) throw error;
  if (!data) throw new Error('An operation came to nothing and to no error.');
  return data;
}

/** The id in the path of a record that belongs to another record, such as a scope of another resource. */
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
  // If the caller may not read it, or it is not found, the operation reports that.
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
  const { [dryRun.name]: isDry, ...others } = request.query;
  refuseUnknown(Object.keys(others), [], 'query parameter');
  if (isDry !== undefined && isDry !== 'true' && isDry !== 'false') {
    throw requestError('BAD_USER_INPUT', `The query parameter ${dryRun.name} is true or false.`);
  }
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
