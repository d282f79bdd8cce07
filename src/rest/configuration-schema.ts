import type { GraphQLSchema } from 'graphql';
import { documentVersion, partsOf } from '../configuration/document.ts';
import {
  fieldsOf,
  inputTypeOf,
  mutationsOf,
  type RecordKindName,
  recordKind,
  recordKinds,
  senderChannels,
} from '../configuration/kinds.ts';
import { inputSchema } from './openapi-schemas.ts';

type Json = Record<string, unknown>;

const names = { type: 'array', items: { type: 'string' }, uniqueItems: true };

const placeholder = {
  type: 'object',
  description: 'A secret that is not in the document: the name of the variable that holds it.',
  properties: { env: { type: 'string', minLength: 1 } },
  required: ['env'],
  additionalProperties: false,
};

/**
 * Describes documents of the configuration: the inputs of the mutations that create its records, with names in the
 * place of ids.
 *
 * @see https://json-schema.org/draft/2020-12
 */
export function createConfigurationSchema(schema: GraphQLSchema, baseUrl: string): Json {
  const definitions: Record<string, Json> = { Secret: placeholder };
  const kinds = Object.keys(recordKinds) as RecordKindName[];
  const inputOf = (mutation: string): Json => {
    const properties = Object.values(inputTypeOf(schema, mutation).getFields())
      .filter(({ name }) => name !== 'expectedVersion')
      .map((field) => [field.name, inputSchema(field, definitions)]);
    return objectOf(Object.fromEntries(properties));
  };
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${baseUrl}/api/configuration.schema.json`,
    title: 'The configuration of Signet',
    ...objectOf({
      signet: { const: documentVersion, description: 'The version of this form.' },
      ...Object.fromEntries(
        kinds
          .filter((kind) => recordKind(kind).within === undefined)
          .map((kind) => [recordKind(kind).section, listOf(schema, kind, definitions)]),
      ),
      messageSenders: orNull(
        objectOf(
          Object.fromEntries(
            Object.entries(senderChannels).map(([name, { set }]) => [name, orNull(inputOf(set))]),
          ),
        ),
      ),
      signInExperience: orNull(inputOf('updateSignInExperience')),
    }),
    required: ['signet'],
  };
  for (const [type, field] of secretsOfInputs) allowPlaceholder(definitions[type], field);
  return { ...located(document), $defs: located(definitions) };
}

// The senders' secrets, by the type of the input.
const secretsOfInputs = [
  ['SmtpSenderInput', 'password'],
  ['HttpSenderInput', 'secret'],
] as const;

/** A sender's secret may be a placeholder, or be left out where it is stored. */
function allowPlaceholder(type: Json | undefined, field: string): void {
  const properties = type?.['properties'] as Record<string, Json> | undefined;
  const secret = properties?.[field];
  if (!type || !properties || !secret) throw new Error(`There is no secret ${field} to describe.`);
  properties[field] = { anyOf: [secret, placeholder] };
  // What is stored already is completed from there.
  delete type['required'];
}

function listOf(
  schema: GraphQLSchema,
  kind: RecordKindName,
  definitions: Record<string, Json>,
): Json {
  const { key, links = {} } = recordKind(kind);
  const fields = inputTypeOf(schema, mutationsOf(kind).create).getFields();
  const properties = Object.fromEntries(
    fieldsOf(schema, kind).flatMap((name) => {
      const field = fields[name];
      return field ? [[name, withPlaceholder(kind, name, inputSchema(field, definitions))]] : [];
    }),
  );
  for (const [field, { of }] of Object.entries(links)) {
    properties[field] = orNull(
      of === 'SCOPE'
        ? {
            type: 'object',
            description: 'The scopes by the indicator of their resource.',
            additionalProperties: names,
          }
        : names,
    );
  }
  const items = objectOf({
    id: { type: 'string', description: 'Needed only where records of a kind share a name.' },
    ...properties,
    ...Object.fromEntries(
      partsOf(kind).map((part) => [recordKind(part).section, listOf(schema, part, definitions)]),
    ),
  });
  return { type: ['array', 'null'], items: { ...items, required: [key] } };
}

function withPlaceholder(kind: RecordKindName, field: string, described: Json): Json {
  if (kind === 'IDENTITY_PROVIDER' && field === 'clientSecret')
    return { anyOf: [described, placeholder] };
  if (kind === 'WEBHOOK' && field === 'headers')
    return {
      type: ['object', 'null'],
      additionalProperties: { anyOf: [{ type: 'string' }, placeholder] },
    };
  return described;
}

const objectOf = (properties: Json): Json => ({
  type: 'object',
  properties,
  additionalProperties: false,
});

const orNull = (described: Json): Json => ({
  ...described,
  type: [described['type'], 'null'].flat(),
});

/** Types are named where a JSON Schema has them, and not where OpenAPI does. */
const located = (described: Json): Json =>
  JSON.parse(JSON.stringify(described).replaceAll('#/components/schemas/', '#/$defs/')) as Json;
