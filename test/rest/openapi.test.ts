import { Validator } from '@seriousme/openapi-schema-validator';
import { getNamedType } from 'graphql';
import { expect, test } from 'vitest';
import { eventNames } from '../../src/events/catalogue/catalogue.ts';
import { restRoutes } from '../../src/rest/routes.ts';
import { schema } from '../../src/schema.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const token = await service.managementToken();

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly example: object; readonly schema: { properties: object } }>
    >;
  };
  readonly responses: Record<string, unknown>;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly example?: string;
  readonly schema: ParameterSchema;
}

interface ParameterSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly items?: ParameterSchema;
  readonly enum?: unknown[];
  readonly examples?: unknown[];
  readonly anyOf?: readonly ParameterSchema[];
}
const { body: document } = await callRest({ url: service.url }, 'GET', '/openapi.json');
const operations = Object.entries(
  document.paths as Record<string, Record<string, Operation>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  expect(await validator.validate(document)).toMatchObject({ valid: true });
  expect(validator.version).toBe('3.1');
  // Every reference leads somewhere.
  const names = new Set(Object.keys(document.components.schemas));
  const referenced = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  expect(
    [...referenced].map(([, name]) => name).filter((name) => !names.has(name as string)),
  ).toEqual([]);
});

test('every mutation and query except node and nodes is routed', () => {
  const routed = new Set(restRoutes.map(({ operation }) => operation));
  const fields = [
    ...Object.keys(schema.getMutationType()?.getFields() ?? {}),
    ...Object.keys(schema.getQueryType()?.getFields() ?? {}),
  ];
  expect(fields.filter((name) => !routed.has(name))).toEqual(['node', 'nodes']);
});

test('descriptions are carried over from the GraphQL schema', () => {
  expect(operations.filter(({ description }) => description === '')).toEqual([]);
  const user = getNamedType(schema.getType('User') ?? undefined);
  expect(user && 'getFields' in user && user.getFields()).toBeTruthy();
  expect(document.components.schemas.User.properties.username.description).toBe(
    'The user name to sign in with. Unique, ignoring case.',
  );
});

test('operations have unique summaries, and tags have descriptions', () => {
  const summaries = operations.map(({ summary }) => summary);
  expect(summaries.filter((summary) => !/^[A-Z][a-z-]+( [a-z-]+)*$/.test(summary))).toEqual([]);
  expect(new Set(summaries).size).toBe(summaries.length);
  const tags = document.tags as { name: string; description?: string }[];
  expect(tags.filter(({ description }) => !description)).toEqual([]);
});

test('each type of event is a webhook, with its payload', () => {
  expect(Object.keys(document.webhooks)).toEqual(eventNames);
  for (const { post } of Object.values(document.webhooks) as { post: never }[]) {
    expect(post).toMatchObject({
      requestBody: {
        content: { 'application/json': { schema: { properties: { data: { type: 'object' } } } } },
      },
    });
  }
});

test.each(operations)(
  '$method $path answers as documented',
  async ({ method, path, responses }) => {
    const url = path.replaceAll(/\{\w+\}/g, 'user_01h455vb4pex5vsknk084sn02q');
    const isBodyless = method === 'get' || method === 'delete';
    const answer = await callRest(
      { url: service.url, token },
      method.toUpperCase(),
      url,
      isBodyless ? undefined : {},
    );
    expect(Object.keys(responses)).toContain(String(answer.status));
    expect(answer.body.code).not.toBe('UNKNOWN_ROUTE');
    expect(answer.status).toBeLessThan(500);
    const anonymous = await callRest(
      { url: service.url },
      method.toUpperCase(),
      url,
      isBodyless ? undefined : {},
    );
    expect(anonymous.status).toBe(401);
  },
);

const isOffered = (parameters: readonly Parameter[], name: string) =>
  parameters.some((parameter) => parameter.name === name);

test('each parameter that may be left out has an example, which is accepted', async () => {
  const lists = operations.filter(({ method }) => method === 'get');
  const unknown: string[] = [];
  const refused: unknown[] = [];
  for (const { path, parameters = [] } of lists) {
    const needed = parameters.filter(({ required }) => required);
    const fill = (text: string, { name, example }: Parameter) =>
      text.replace(`{${name}}`, encodeURIComponent(String(example)));
    const url = needed.reduce(fill, path);
    for (const parameter of parameters.filter(({ required }) => !required)) {
      // Bruno sends whatever has an example here.
      expect(parameter.schema).not.toHaveProperty('examples');
      const values = valuesOf(parameter.schema);
      if (values.length === 0) unknown.push(parameter.name);
      for (const value of values) {
        const query = new URLSearchParams(
          needed
            .filter((other) => other.in === 'query')
            .map(({ name, example }) => [name, String(example)]),
        );
        if (parameter.in === 'query') query.set(parameter.name, String(value));
        // Which way, of an order.
        const order = parameters.find(({ name }) => name === 'orderBy');
        if (parameter.name === 'direction' && order)
          query.set('orderBy', String(valuesOf(order.schema)[0]));
        const { status, body } = await callRest(
          { url: service.url, token },
          'GET',
          `${url}?${query}`,
        );
        if (status !== 200 && body.code !== 'NOT_FOUND')
          refused.push({ path, name: parameter.name, value, body });
      }
    }
  }
  expect(refused).toEqual([]);
  // A cursor is one that the service gave.
  expect([...new Set(unknown)].toSorted()).toEqual(['after', 'before']);
});

/** Values of a schema: its examples, or one of those that it names. */
function valuesOf({ anyOf, ...schema }: ParameterSchema): unknown[] {
  if (anyOf) return anyOf.flatMap(valuesOf);
  const { $ref, type, items, enum: values, examples } = schema;
  if (examples) return examples;
  if ($ref) return valuesOf(document.components.schemas[$ref.split('/').at(-1) ?? '']);
  if (items) return valuesOf(items);
  return values?.slice(0, 1) ?? (type === 'boolean' ? [true] : []);
}

test('examples name the same records at the same place, whatever is done there', () => {
  const examples = operations.flatMap(({ path, method, parameters = [] }) =>
    parameters
      .filter(({ required }) => required)
      .map(({ name, example, ...parameter }) => ({
        at:
          parameter.in === 'path'
            ? path.slice(0, path.indexOf(`{${name}}`)).replaceAll(/\{\w+\}/g, '{}')
            : name,
        method,
        path,
        example,
      })),
  );
  const places = Map.groupBy(examples, ({ at }) => at);
  const differing = [...places.values()].filter(
    (uses) => new Set(uses.map(({ example }) => example)).size > 1,
  );
  expect(differing).toEqual([]);
  expect(places.get('/webhooks/')?.[0]?.example).toMatch(/^hook_/);
  expect(places.get('resource')?.[0]?.example).toBe('https://orders.example.com/api');
  expect(places.get('scope')?.[0]?.example).toBe('read:orders');
});

test('the example of each request is well-formed, and its answer as documented', async () => {
  const sent = operations.map(async ({ method, path, parameters = [], requestBody, responses }) => {
    // A page that tries an operation fills in what has an example, which no filter may.
    const needed = parameters.filter(({ required }) => required);
    expect(parameters.filter(({ example }) => example !== undefined)).toEqual(needed);
    const at = (place: string) => needed.filter((parameter) => parameter.in === place);
    const url = at('path').reduce(
      (filled, { name, example }) =>
        filled.replace(`{${name}}`, encodeURIComponent(String(example))),
      path,
    );
    const query = new URLSearchParams(
      at('query').map(({ name, example }) => [name, String(example)]),
    );
    if (method !== 'get') query.set('dryRun', 'true');
    const { example: body, schema = { properties: {} } } =
      requestBody?.content['application/json'] ?? {};
    const isEmpty = Object.keys(schema.properties).every((name) => name === 'expectedVersion');
    expect(Object.keys(body ?? {}).length === 0, path).toBe(isEmpty);
    const answer = await callRest(
      { url: service.url, token },
      method.toUpperCase(),
      `${url}?${query}`,
      body,
    );
    expect(Object.keys(responses), path).toContain(String(answer.status));
    return { at: `${method} ${path}`, status: answer.status, code: answer.body?.code };
  });
  const answers = await Promise.all(sent);
  // What it names is not there, and what works outside of the database is not done for a trial.
  const others = answers.filter(({ status, code }) => status >= 300 && code !== 'NOT_FOUND');
  const outside = operations
    .filter(({ method, parameters = [] }) => method !== 'get' && !isOffered(parameters, 'dryRun'))
    .map(({ method, path }) => `${method} ${path}`);
  expect(outside).toEqual([
    ...['post /webhooks/{id}/test', 'post /webhooks/{id}/replay'],
    ...['post /deliveries/{id}/redeliver', 'post /messages/test'],
  ]);
  expect(others).toEqual(outside.map((at) => ({ at, status: 403, code: 'NOT_ALLOWED' })));
});
