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
import type { SelectedField } from './operation.ts';

/** A part of a JSON document. */
export type Json = Record<string, unknown>;

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
  EmailAddress: { type: 'string', format: 'idn-email' },
  PhoneNumber: { type: 'string', pattern: '^\\+[1-9]\\d{6,14}$' },
};

/** Names a schema of the document. */
export const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The JSON Schema of an object with these fields of an answer; the types that it names go into `schemas`. */
export function objectSchema(
  selection: readonly SelectedField[],
  schemas: Record<string, Json>,
): Json {
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

/** The JSON Schema of a field of an input; the types that it names go into `schemas`. */
export const inputSchema = (field: GraphQLInputField, schemas: Record<string, Json>): Json => ({
  ...typeSchema(field.type, schemas, { isNullable: true }),
  ...(field.description ? { description: field.description } : {}),
});

/** The JSON Schema of a value that is sent; the types that it names go into `schemas`. */
export function typeSchema(
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
