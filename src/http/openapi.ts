import {
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { type ProblemCode, problemStatuses } from './problem.ts';
import type { QueryParameter, RestOperation, SelectedField } from './rest-operation.ts';

type Json = Record<string, unknown>;

const scalars: Readonly<Record<string, Json>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  JSON: {},
  JSONObject: { type: 'object', additionalProperties: true },
  URL: { type: 'string', format: 'uri' },
  EmailAddress: { type: 'string', format: 'email' },
  PhoneNumber: { type: 'string', pattern: '^\\+[1-9]\\d{6,14}$' },
};

const problemCodes: Readonly<Record<string, ProblemCode>> = {
  InvalidInputError: 'INVALID_INPUT',
  NotFoundError: 'NOT_FOUND',
  ConflictError: 'CONFLICT',
  NotAllowedError: 'NOT_ALLOWED',
};

/**
 * Describes the REST routes in OpenAPI 3.1, out of the table of routes and the GraphQL types behind them.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export function createOpenApi(operations: readonly RestOperation[], baseUrl: string): Json {
  const schemas: Record<string, Json> = { Problem: problemSchema, PageInfo: pageInfoSchema };
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = operation.route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [operation.route.method.toLowerCase()]: describe(operation, schemas),
    };
  }
  const tags = [...new Set(operations.map(tagOf))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signet management API',
      version: '1',
      description:
        'The management operations as REST. Each route runs the GraphQL operation of its `operationId`, with the same rights, rules, errors and events.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${baseUrl}/api` }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'An access token from /oidc/token for the resource urn:signet:management, with the scopes that the operation names, or `all`.',
        },
      },
    },
  };
}

const tagOf = ({ route }: RestOperation) => route.path.split('/')[1] ?? '';

function describe(operation: RestOperation, schemas: Record<string, Json>): Json {
  const { route, field, kind, scopes, bodyFields } = operation;
  const properties = Object.fromEntries(
    bodyFields.map((input) => [input.name, inputSchema(input, schemas)]),
  );
  const required = bodyFields.filter(({ type }) => isNonNullType(type)).map(({ name }) => name);
  const body = {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return {
    operationId: [route.operation, route.list].filter(Boolean).join('.'),
    tags: [tagOf(operation)],
    description: field.description ?? '',
    security: [{ bearer: scopes }],
    parameters: [...pathParameters(operation), ...queryParameters(operation, schemas)],
    ...(kind === 'mutation' && bodyFields.length > 0
      ? {
          requestBody: {
            required: required.length > 0,
            content: { 'application/json': { schema: body } },
          },
        }
      : {}),
    responses: {
      [isCreation(operation) ? 201 : 200]: {
        description: 'It is done.',
        content: { 'application/json': { schema: answerSchema(operation, schemas) } },
      },
      ...problemResponses(operation),
    },
  };
}

const isCreation = ({ route }: RestOperation) => /^create[A-Z]/.test(route.operation);

const pathParameters = ({ route }: RestOperation): Json[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters(
  { kind, queryParameters }: RestOperation,
  schemas: Record<string, Json>,
): Json[] {
  const described = queryParameters.map(
    ({ name, description, type, isRequired }: QueryParameter): Json => ({
      name,
      in: 'query',
      description,
      required: isRequired,
      schema: typeSchema(isNonNullType(type) ? type.ofType : type, schemas, { isNullable: false }),
    }),
  );
  return kind !== 'list'
    ? described
    : [
        ...described,
        {
          name: 'totalCount',
          in: 'query',
          description: 'Whether to count how many there are over all pages.',
          required: false,
          schema: { type: 'boolean', default: false },
        },
      ];
}

function problemResponses(operation: RestOperation): Json {
  const { kind, errorTypes, parameters } = operation;
  const codes: ProblemCode[] = [
    'BAD_USER_INPUT',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    ...(kind !== 'mutation' && parameters.size > 0 ? (['NOT_FOUND'] as const) : []),
    ...(kind === 'mutation' ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...errorTypes.flatMap((name) => problemCodes[name] ?? []),
    'INTERNAL_SERVER_ERROR',
  ];
  const byStatus = Map.groupBy(new Set(codes), (code) => problemStatuses[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [
      status,
      {
        description: `A problem with the code ${of.join(' or ')}.`,
        content: { 'application/problem+json': { schema: reference('Problem') } },
      },
    ]),
  );
}

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function answerSchema(operation: RestOperation, schemas: Record<string, Json>): Json {
  const { kind, selection, answerField, field } = operation;
  if (kind === 'mutation') return objectSchema(selection, schemas);
  const record = objectSchema(selection, schemas);
  if (kind === 'record') {
    const { name } = getNamedType(field.type);
    schemas[name] ??= record;
    return {
      type: 'object',
      properties: { [answerField]: reference(name) },
      required: [answerField],
    };
  }
  return {
    type: 'object',
    properties: {
      [answerField]: { type: 'array', items: record },
      pageInfo: reference('PageInfo'),
      totalCount: { type: 'integer', description: 'Where it was asked for.' },
    },
    required: [answerField, 'pageInfo'],
  };
}

function objectSchema(selection: readonly SelectedField[], schemas: Record<string, Json>): Json {
  return {
    type: 'object',
    properties: Object.fromEntries(
      selection.map((selected) => [
        selected.name,
        {
          ...selectedSchema(selected.field.type, selected, schemas),
          description: selected.field.description ?? '',
        },
      ]),
    ),
    required: selection.map(({ name }) => name),
  };
}

function selectedSchema(
  type: GraphQLOutputType,
  selected: SelectedField,
  schemas: Record<string, Json>,
  isNullable = true,
): Json {
  if (isNonNullType(type)) return selectedSchema(type.ofType, selected, schemas, false);
  if (isListType(type)) {
    const items = selectedSchema(type.ofType as GraphQLOutputType, selected, schemas);
    return { type: isNullable ? ['array', 'null'] : 'array', items };
  }
  if (selected.selection.length === 0) {
    return typeSchema(type as GraphQLInputType, schemas, { isNullable });
  }
  const { selection } = selected;
  const { name } = getNamedType(type);
  const isReference = selection.length === 1 && selection[0]?.name === 'id';
  if (!isReference) schemas[name] ??= objectSchema(selection, schemas);
  const schema = isReference ? objectSchema(selection, schemas) : reference(name);
  return isNullable ? { anyOf: [schema, { type: 'null' }] } : schema;
}

const inputSchema = (field: GraphQLInputField, schemas: Record<string, Json>): Json => ({
  ...typeSchema(field.type, schemas, { isNullable: true }),
  ...(field.description ? { description: field.description } : {}),
});

function typeSchema(
  type: GraphQLInputType,
  schemas: Record<string, Json>,
  { isNullable }: { isNullable: boolean },
): Json {
  if (isNonNullType(type)) return typeSchema(type.ofType, schemas, { isNullable: false });
  if (isListType(type)) {
    const items = typeSchema(type.ofType as GraphQLInputType, schemas, { isNullable: true });
    return { type: isNullable ? ['array', 'null'] : 'array', items };
  }
  if (isEnumType(type)) {
    schemas[type.name] ??= {
      type: 'string',
      description: type.description ?? '',
      enum: type.getValues().map(({ name }) => name),
    };
  } else if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    const required = fields.filter((field) => isNonNullType(field.type)).map(({ name }) => name);
    schemas[type.name] ??= {
      type: 'object',
      description: type.description ?? '',
      properties: Object.fromEntries(
        fields.map((field) => [field.name, inputSchema(field, schemas)]),
      ),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    };
  } else {
    const scalar = scalars[type.name];
    if (!scalar) throw new Error(`The scalar ${type.name} has no JSON Schema.`);
    const { type: jsonType } = scalar;
    return isNullable && jsonType ? { ...scalar, type: [jsonType, 'null'] } : scalar;
  }
  return isNullable ? { anyOf: [reference(type.name), { type: 'null' }] } : reference(type.name);
}

const problemSchema = {
  type: 'object',
  description: 'What went wrong (RFC 9457).',
  properties: {
    type: { type: 'string', format: 'uri', description: 'The kind of problem.' },
    title: { type: 'string', description: 'The kind of problem, for a person.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What went wrong this time, for a person.' },
    code: {
      type: 'string',
      enum: Object.keys(problemStatuses),
      description: 'The kind of problem, for a program to branch on.',
    },
    issues: {
      type: 'array',
      description: 'With INVALID_INPUT: every fault, all of them at once.',
      items: {
        type: 'object',
        properties: {
          path: { type: 'array', items: { type: 'string' } },
          message: { type: 'string' },
        },
        required: ['path', 'message'],
      },
    },
    path: {
      type: 'array',
      items: { type: 'string' },
      description: 'With CONFLICT: the way to the unique field.',
    },
    id: { type: 'string', description: 'With NOT_FOUND: the id that nothing has.' },
    requiredScope: { type: 'string', description: 'With FORBIDDEN: the scope that is missing.' },
    requestId: {
      type: 'string',
      description: 'With INTERNAL_SERVER_ERROR: what the log has the details under.',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
};

const pageInfoSchema = {
  type: 'object',
  description: 'Where the page is in the list.',
  properties: {
    hasNextPage: { type: 'boolean' },
    hasPreviousPage: { type: 'boolean' },
    startCursor: { type: ['string', 'null'] },
    endCursor: { type: ['string', 'null'] },
  },
  required: ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'],
};
