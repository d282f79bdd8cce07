import {
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isListType,
  isNonNullType,
} from 'graphql';
import { inputIssueCodes } from '../errors.ts';
import { type FailureCode, failures } from '../failures.ts';
import { worksOutside } from '../graphql/mutations/mutation.ts';
import { dryRun } from '../graphql/mutations/rehearsal.ts';
import { bodyExample, exampleOf, parameterExample } from './examples.ts';
import { linesOfJson } from './export-events.ts';
import { contentTypesOf } from './media-types.ts';
import { inputSchema, type Json, objectSchema, reference, typeSchema } from './openapi-schemas.ts';
import { openApiWebhookComponents, openApiWebhooks } from './openapi-webhooks.ts';
import type { QueryParameter, RestOperation } from './operation.ts';

const problemCodes: Readonly<Record<string, FailureCode>> = {
  InvalidInputError: 'INVALID_INPUT',
  NotFoundError: 'NOT_FOUND',
  ConflictError: 'CONFLICT',
  NotAllowedError: 'NOT_ALLOWED',
  VersionConflictError: 'VERSION_CONFLICT',
  ConfigurationMovedError: 'VERSION_CONFLICT',
};

/**
 * Describes the REST routes in OpenAPI 3.1, from the table of routes and their GraphQL types.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export function createOpenApi(operations: readonly RestOperation[], baseUrl: string): Json {
  const schemas: Record<string, Json> = {
    Problem: problemSchema,
    PageInfo: pageInfoSchema,
    ...openApiWebhookComponents.schemas,
  };
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
    tags: tags.map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    webhooks: openApiWebhooks(),
    components: {
      schemas,
      parameters: openApiWebhookComponents.parameters,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'An access token from /oidc/token for the resource urn:signet:management, with the scopes that the operation requires, or `all`.',
        },
      },
    },
  };
}

const tagOf = ({ route }: RestOperation) => route.path.split('/')[1] ?? '';

const tagDescriptions: Readonly<Record<string, string>> = {
  users: 'People who sign in, and their roles.',
  roles: 'Roles: sets of scopes that users or machine-to-machine applications hold.',
  resources: 'APIs that access tokens are aimed at, and the scopes they define.',
  applications: 'Clients that users sign in to, services that exchange tokens, and their secrets.',
  scopes: 'The scopes of all resources.',
  organizations: 'Organizations, with their members, e-mail domains and just-in-time roles.',
  'organization-invitations': 'Invitations of e-mail addresses to organizations.',
  'organization-roles': 'Roles that members hold within an organization.',
  'organization-scopes': 'Scopes that organization roles hold, beside those of resources.',
  webhooks: 'Endpoints that get events, and the messages they get.',
  deliveries: 'One event on its way to one webhook.',
  events: 'The log of everything that changed.',
  'signing-keys': 'The keys that sign tokens.',
  configuration: 'What operators decide, as one document.',
  permissions: 'What users and applications would get in a token, and why.',
  'service-settings': 'Settings of the service.',
  'registration-tokens': 'Tokens with which programs register applications.',
  'trusted-issuers': 'Issuers elsewhere whose assertions get tokens for an application.',
  'cross-app-connections': 'Where applications may take the identities of their users.',
  'sign-in-experience': 'How people sign up and sign in.',
  'identity-providers': 'Other providers that people sign in with.',
  identifiers: 'User names and addresses that people sign in with.',
  'one-time-tokens': 'Tokens that sign the holder of an address in once.',
  'message-senders': 'How e-mail and SMS leave the service.',
  messages: 'Messages on their way to people.',
  service: 'The process that answers, and how it was set up.',
  statistics: 'Figures of the whole service.',
};

const words = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim();

/** A short summary from the operation's name: `createUser` is "Create user". */
function summaryOf({ route: { operation, list }, kind }: RestOperation): string {
  if (list !== undefined) {
    const article = /^[aeiou](?!ser)/.test(operation) ? 'an' : 'a';
    return `List ${words(list)} of ${article} ${words(operation)}`;
  }
  // A query may begin with its own verb.
  const verb = operation.startsWith('explain')
    ? ''
    : { mutation: '', record: 'get ', list: 'list ' }[kind];
  const phrase = `${verb}${words(operation)}`;
  return `${phrase[0]?.toUpperCase()}${phrase.slice(1)}`;
}

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
  const example = { example: bodyExample(operation) ?? {} };
  return {
    operationId: [route.operation, route.list].filter(Boolean).join('.'),
    summary: summaryOf(operation),
    tags: [tagOf(operation)],
    description: field.description ?? '',
    security: [{ bearer: scopes }],
    parameters: [
      ...pathParameters(operation),
      ...queryParameters(operation, schemas),
      ...safeWriteParameters(operation),
    ],
    ...(kind === 'mutation' && bodyFields.length > 0
      ? {
          requestBody: {
            required: required.length > 0,
            content: Object.fromEntries(
              contentTypesOf(route).map((type) => [type, { schema: body, ...example }]),
            ),
          },
        }
      : {}),
    responses: {
      [isCreation(operation) ? 201 : 200]: {
        description: 'Done.',
        content: {
          'application/json': { schema: answerSchema(operation, schemas) },
          ...(operation.route.operation === 'events' ? { [linesOfJson]: exportSchema } : {}),
        },
      },
      ...problemResponses(operation),
    },
  };
}

const exportSchema = {
  schema: {
    type: 'string',
    description:
      'The whole of the filtered log, without pages: a line for each event, an object with the fields of a list entry. It ends where the log ended when it was asked for. Go on with `after`: the `cursor` of the last whole line.',
  },
};

const isCreation = ({ route }: RestOperation) => /^create[A-Z]/.test(route.operation);

const pathParameters = (operation: RestOperation): Json[] =>
  [...operation.route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    example: parameterExample(operation, name),
  }));

function queryParameters(operation: RestOperation, schemas: Record<string, Json>): Json[] {
  const { kind, queryParameters } = operation;
  const schemaOf = (type: GraphQLInputType) =>
    typeSchema(isNonNullType(type) ? type.ofType : type, schemas, { isNullable: false });
  const described = queryParameters.map(
    ({ name, description, type, isRequired }: QueryParameter): Json => ({
      name,
      in: 'query',
      description,
      required: isRequired,
      ...(isRequired
        ? { schema: schemaOf(type), example: parameterExample(operation, name) }
        : { schema: withExample(schemaOf(type), exampleOf(name)) }),
    }),
  );
  return kind !== 'list'
    ? described
    : [
        ...described,
        {
          name: 'totalCount',
          in: 'query',
          description: 'Whether to count the entries of all pages.',
          required: false,
          schema: { type: 'boolean', default: false },
        },
      ];
}

/**
 * Adds an example to the schema of a parameter that may be left out. Pages that try an operation fill in the example of
 * a parameter, and Bruno sends that of its schema too: filters would leave nothing of a list. Inside `anyOf`, neither
 * does, and generators of types see the schema alone.
 */
const withExample = (schema: Json, example: unknown): Json =>
  example === undefined ? schema : { anyOf: [{ ...schema, examples: [example] }] };

const ofMutations = [
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
] as const;
const entityTag = withExample({ type: 'string' }, '"3"');

function safeWriteParameters({ kind, bodyFields, selection, field }: RestOperation): Json[] {
  if (kind === 'record') {
    const hasVersion = selection.some(({ name }) => name === 'version');
    const description =
      'The `ETag` of the state that you have: the answer is 304 if it is current.';
    return hasVersion
      ? [{ name: 'If-None-Match', in: 'header', description, schema: entityTag }]
      : [];
  }
  if (kind !== 'mutation') return [];
  const isVersioned = bodyFields.some(({ name }) => name === 'expectedVersion');
  return [
    ...(worksOutside(field)
      ? []
      : [
          {
            name: dryRun.name,
            in: 'query',
            description: `${dryRun.description} They are beside the record, as \`dryRun.events\`.`,
            schema: withExample({ type: 'boolean', default: false }, true),
          },
        ]),
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'For each key of a caller, the change is made once. For a day, the same request gets the first answer again, with `Idempotency-Replayed: true`.',
      schema: withExample(
        { type: 'string', minLength: 1, maxLength: 257 },
        '8e03978e-40d5-43e8-bc93-6894a57f9324',
      ),
    },
    ...(isVersioned
      ? [
          {
            name: 'If-Match',
            in: 'header',
            description: 'The `ETag` of the state that is to be changed, as `expectedVersion`.',
            schema: entityTag,
          },
        ]
      : []),
  ];
}

function problemResponses(operation: RestOperation): Json {
  const { kind, errorTypes, parameters, route } = operation;
  const codes: FailureCode[] = [
    'BAD_USER_INPUT',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    ...(route.operation === 'events' ? (['CURSOR_EXPIRED'] as const) : []),
    ...(kind !== 'mutation' && parameters.size > 0 ? (['NOT_FOUND'] as const) : []),
    ...(kind === 'mutation' ? ofMutations : []),
    ...errorTypes.flatMap((name) => problemCodes[name] ?? []),
    'INTERNAL_SERVER_ERROR',
    'SERVICE_UNAVAILABLE',
  ];
  const byStatus = Map.groupBy(new Set(codes), (code) => failures[code].status);
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

function answerSchema(operation: RestOperation, schemas: Record<string, Json>): Json {
  const { kind, selection, answerField, field } = operation;
  if (kind === 'mutation') return objectSchema(selection, schemas);
  const record = objectSchema(selection, schemas);
  if (kind === 'record') {
    const { name } = getNamedType(field.type);
    schemas[name] ??= record;
    const isList = isListType(getNullableType(field.type));
    return {
      type: 'object',
      properties: {
        [answerField]: isList ? { type: 'array', items: reference(name) } : reference(name),
      },
      required: [answerField],
    };
  }
  return {
    type: 'object',
    properties: {
      [answerField]: { type: 'array', items: record },
      pageInfo: reference('PageInfo'),
      totalCount: { type: 'integer', description: 'The number of entries, if it was requested.' },
    },
    required: [answerField, 'pageInfo'],
  };
}

const problemSchema = {
  type: 'object',
  description: 'A problem document (RFC 9457).',
  properties: {
    type: { type: 'string', format: 'uri', description: 'The kind of problem, as a URI.' },
    title: { type: 'string', description: 'The kind of problem, as a text for people.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: {
      type: 'string',
      description: 'This occurrence of the problem, as a text for people.',
    },
    code: {
      type: 'string',
      enum: Object.keys(failures),
      description: 'The kind of problem. Programs can branch on it.',
    },
    issues: {
      type: 'array',
      description: 'With INVALID_INPUT: all faults of the input.',
      items: {
        type: 'object',
        properties: {
          path: { type: 'array', items: { type: 'string' } },
          code: {
            type: 'string',
            enum: Object.keys(inputIssueCodes),
            description: 'The kind of fault. Programs can branch on it.',
          },
          message: { type: 'string' },
        },
        required: ['path', 'code', 'message'],
      },
    },
    path: {
      type: 'array',
      items: { type: 'string' },
      description: 'With CONFLICT: the path to the unique field.',
    },
    id: { type: 'string', description: 'With NOT_FOUND: the unknown id.' },
    requiredScope: { type: 'string', description: 'With FORBIDDEN: the scope that is missing.' },
    requestId: {
      type: 'string',
      description: 'With INTERNAL_SERVER_ERROR: the id under which the log has the details.',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
};

const pageInfoSchema = {
  type: 'object',
  description: 'The position of the page in the list.',
  properties: {
    hasNextPage: { type: 'boolean' },
    hasPreviousPage: { type: 'boolean' },
    startCursor: { type: ['string', 'null'] },
    endCursor: { type: ['string', 'null'] },
  },
  required: ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'],
};
