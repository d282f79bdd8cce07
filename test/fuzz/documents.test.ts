import { expect, test } from 'vitest';
import { restRoutes } from '../../src/rest/routes.ts';
import { accountSchema, experienceSchema, schema } from '../../src/schema.ts';
import { createFingerprint } from '../support/operations/fingerprint.ts';
import { send as sendDocument } from '../support/operations/graphql.ts';
import { inputFields, mutations } from '../support/operations/operations.ts';
import { brokenBody, validDocument } from './drawing/documents.ts';
import { fuzz, pick, rarely } from './drawing/fuzz.ts';
import { spoiled } from './drawing/inputs.ts';
import { hostileText } from './drawing/values.ts';
import { type Answer, graphqlRequest } from './send.ts';
import { createWorld } from './world.ts';

const { service, admin, account, ask, given, used, ids: readIds, operations } = await createWorld();
const ids = await readIds();
const fingerprint = await createFingerprint(service.app.services.database.prisma);

const doors = [
  { path: '/graphql', graph: schema, token: admin },
  { path: '/account/graphql', graph: accountSchema, token: account },
  { path: '/experience/graphql', graph: experienceSchema, token: undefined },
];

const beforeQueries = await fingerprint();
fuzz('a query with hostile arguments is answered or refused', 250, async (g) => {
  const { path, graph, token } = pick(g, doors);
  await ask(graphqlRequest(path, validDocument(g, graph, 'query', ids), token));
});

test('these queries have written nothing', async () => {
  expect(await fingerprint()).toEqual(beforeQueries);
});

fuzz('a body that is no document of the schema is refused', 120, async (g) => {
  const { path, graph, token } = pick(g, doors);
  const body = brokenBody(g, validDocument(g, graph, 'query', ids));
  await ask(graphqlRequest(path, body, rarely(g, 3) ? undefined : token));
});

fuzz('a document in a URL is answered or refused', 80, async (g) => {
  const { query, variables } = validDocument(g, schema, 'query', ids);
  const sent = new URLSearchParams({
    query: rarely(g, 4) ? hostileText(g) : query,
    variables: rarely(g, 4) ? hostileText(g) : JSON.stringify(variables),
    operationName: rarely(g, 4) ? hostileText(g) : '',
  });
  const { headers = {} } = graphqlRequest('/graphql', {}, admin);
  const path = `/graphql?${sent}`;
  // Longer ones are Node's own 431.
  if (path.length > 12_000) return;
  await ask({ method: 'GET', path, headers });
});

/** Whether a mutation was refused, over GraphQL or REST. */
function isRefused({ status, text }: Answer): boolean {
  if (status >= 400) return true;
  const { errors, data } = JSON.parse(text) as {
    errors?: unknown[];
    data?: Record<string, { __typename: string } | null> | null;
  };
  if (errors) return true;
  const [result] = Object.values(data ?? {});
  return data !== undefined && !result?.__typename.endsWith('Payload');
}

const segment = (value: unknown) => encodeURIComponent(String(value).toWellFormed());

function restRequest(operation: string, input: Record<string, unknown>) {
  const route = restRoutes.find((one) => one.operation === operation);
  if (!route) throw new Error(`There is no route for ${operation}.`);
  const body = { ...input };
  const path = route.path.replaceAll(/:(\w+)/g, (_match, parameter: string) => {
    const field = route.rename?.[parameter] ?? parameter;
    const value = body[field];
    delete body[field];
    return segment(value);
  });
  const { headers = {} } = graphqlRequest('/graphql', {}, admin);
  return { method: route.method, path: `/api${path}`, headers, body: JSON.stringify(body) };
}

fuzz('a refused mutation writes nothing', 40, async (g) => {
  const operation = pick(g, operations);
  const input = spoiled(g, await given(operation), inputFields(operation), ids);
  const before = await fingerprint();
  const query = `mutation ($input: ${mutations[operation]?.args[0]?.type}) {
    ${operation}(input: $input) { __typename ... on Error { code message } } }`;
  const request = rarely(g, 2)
    ? restRequest(operation, input)
    : graphqlRequest('/graphql', { query, variables: { input } }, admin);
  const answer = await ask(request);
  if (isRefused(answer)) expect(await fingerprint(), JSON.stringify(request)).toEqual(before);
  else used(operation);
});

fuzz('a mutation of somebody’s own account is done or refused', 80, async (g) => {
  const { path, graph, token } = pick(g, doors.slice(1));
  await ask(graphqlRequest(path, validDocument(g, graph, 'mutation', ids), token));
});

test('the service serves as before', async () => {
  const { status, data } = await sendDocument(
    { url: service.url, token: admin },
    '{ users { totalCount } }',
  );
  expect({ status, data }).toMatchObject({ status: 200, data: { users: expect.anything() } });
});
