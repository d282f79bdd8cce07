import {
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLUnionType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  parse,
} from 'graphql';
import { scopeOf } from '../graphql/operations/scopes.ts';
import type { RestRoute } from './routes.ts';

/** A field of an answer; for an object, with its own selected fields. */
export interface SelectedField {
  readonly name: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly selection: readonly SelectedField[];
}

/** A query parameter of a list, and where its value goes. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly type: GraphQLInputType;
  readonly isRequired: boolean;
  /** The variable, and for an input object its field. */
  readonly target: readonly [variable: string, field?: string];
}

/** The GraphQL document of a route, and how to fill its variables. */
export interface RestOperation {
  readonly route: RestRoute;
  readonly kind: 'mutation' | 'record' | 'list';
  readonly field: GraphQLField<unknown, unknown>;
  /** The field of the answer that holds the record or the list. */
  readonly answerField: string;
  readonly document: DocumentNode;
  /** The fields of the answer: of the payload, the record, or one entry of the list. */
  readonly selection: readonly SelectedField[];
  /** The input field or argument of each path parameter. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly queryParameters: readonly QueryParameter[];
  /** The fields of the body, without those that the path names. */
  readonly bodyFields: readonly GraphQLInputField[];
  readonly errorTypes: readonly string[];
  /** The scopes that the caller's token must allow. */
  readonly scopes: readonly string[];
}

// The id that Relay's first version gave mutations; an operation without other input has to have a field.
const unusedInRest: ReadonlySet<string> = new Set(['clientMutationId']);

/**
 * Makes the GraphQL document of a route from the schema. It selects all of a record's own fields, and the id of the
 * record it belongs to.
 *
 * @throws when the schema has no such operation, or the operation does not fit the path.
 */
export function createRestOperation(schema: GraphQLSchema, route: RestRoute): RestOperation {
  const { operation, path, list } = route;
  const parameters = new Map(
    [...path.matchAll(/:(\w+)/g)]
      .map(([, name = '']) => name)
      .filter((name) => name !== route.within?.parameter)
      .map((name) => [name, route.rename?.[name] ?? name]),
  );
  const mutation = schema.getMutationType()?.getFields()[operation];
  if (mutation) return mutationOperation(route, mutation, parameters);
  const query = schema.getQueryType()?.getFields()[operation];
  if (!query) throw new Error(`${route.method} ${path}: the schema has no ${operation}.`);
  if (list === undefined && !isConnection(getNamedType(query.type))) {
    return recordOperation(route, query, parameters);
  }
  return listOperation(route, query, parameters);
}

/** Whether a type is a list of records. A record may be called a connection too. */
const isConnection = (type: GraphQLNamedType): boolean =>
  isObjectType(type) && 'edges' in type.getFields();

function mutationOperation(
  route: RestRoute,
  field: GraphQLField<unknown, unknown>,
  parameters: ReadonlyMap<string, string>,
): RestOperation {
  const input = argument(field, 'input').type;
  const inputType = getNamedType(input);
  const union = getNamedType(field.type);
  if (!isInputObjectType(inputType) || !isUnionType(union)) {
    throw new Error(`${field.name} is not a mutation of the schema's form.`);
  }
  const fields = inputType.getFields();
  for (const name of parameters.values()) {
    if (!fields[name]) throw new Error(`${route.path}: ${inputType.name} has no ${name}.`);
  }
  const fromPath = new Set(parameters.values());
  const payload = payloadOf(union);
  const selection = selectPayload(payload);
  const errorTypes = union.getTypes().filter((type) => type !== payload);
  const members = [
    `... on ${payload.name} ${print(selection)}`,
    ...errorTypes.map((type) => `... on ${type.name} ${print(selectAll(type))}`),
  ];
  return {
    route,
    kind: 'mutation',
    field,
    answerField: field.name,
    document: parse(
      `mutation ($input: ${input}) { ${field.name}(input: $input) { __typename ${members.join(' ')} } }`,
    ),
    selection,
    parameters,
    queryParameters: [],
    bodyFields: Object.values(fields).filter(
      ({ name }) => !fromPath.has(name) && !unusedInRest.has(name),
    ),
    errorTypes: errorTypes.map(({ name }) => name),
    scopes: [scopeOf(field) ?? []].flat(),
  };
}

function recordOperation(
  route: RestRoute,
  field: GraphQLField<unknown, unknown>,
  parameters: ReadonlyMap<string, string>,
): RestOperation {
  const selection = selectAll(getNamedType(field.type));
  const inPath = new Set(parameters.values());
  const variables = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const args = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  return {
    route,
    kind: 'record',
    field,
    answerField: field.name,
    document: parse(
      field.args.length === 0
        ? `query { ${field.name} ${print(selection)} }`
        : `query (${variables}) { ${field.name}(${args}) ${print(selection)} }`,
    ),
    selection,
    parameters,
    queryParameters: field.args.filter(({ name }) => !inPath.has(name)).flatMap(queryParametersOf),
    bodyFields: [],
    errorTypes: [],
    scopes: [scopeOf(field) ?? []].flat(),
  };
}

function listOperation(
  route: RestRoute,
  root: GraphQLField<unknown, unknown>,
  parameters: ReadonlyMap<string, string>,
): RestOperation {
  const field = route.list === undefined ? root : fieldOf(getNamedType(root.type), route.list);
  const edges = getNamedType(fieldOf(getNamedType(field.type), 'edges').type);
  const node = getNamedType(fieldOf(edges, 'node').type);
  const selection = selectAll(node, { isList: true });
  const variables = field.args.map(({ name, type }) => `$${name}: ${type}`);
  const args = field.args.map(({ name }) => `${name}: $${name}`);
  const listed = `${field.name}(${args.join(', ')}) {
    edges { node ${print(selection)} }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount @include(if: $totalCount)
  }`;
  const all = ['$totalCount: Boolean!', ...(field === root ? [] : ['$id: ID!']), ...variables];
  return {
    route,
    kind: 'list',
    field,
    answerField: field.name,
    document: parse(
      `query (${all.join(', ')}) { ${field === root ? listed : `${root.name}(id: $id) { ${listed} }`} }`,
    ),
    selection,
    parameters,
    queryParameters: field.args.flatMap(queryParametersOf),
    bodyFields: [],
    errorTypes: [],
    scopes: [
      ...new Set(
        [scopeOf(root), scopeOf(node), ...selection.map(scopeOfSelected)].flatMap(
          (scope) => scope ?? [],
        ),
      ),
    ],
  };
}

function queryParametersOf(arg: GraphQLArgument): QueryParameter[] {
  const type = getNamedType(arg.type);
  if (!isInputObjectType(type)) {
    return [
      {
        name: arg.name,
        description: arg.description ?? '',
        type: arg.type,
        isRequired: isNonNullType(arg.type),
        target: [arg.name],
      },
    ];
  }
  return Object.values(type.getFields()).map((field) => ({
    // `orderBy: { field, direction }` would be unclear as `?field=`.
    name: field.name === 'field' ? arg.name : field.name,
    description: field.description ?? '',
    type: field.type,
    isRequired: false,
    target: [arg.name, field.name],
  }));
}

function payloadOf(union: GraphQLUnionType) {
  const payload = union.getTypes().find(({ name }) => name.endsWith('Payload'));
  if (!payload) throw new Error(`${union.name} has no payload.`);
  return payload;
}

/** Selects the records of a payload in full, whatever scopes their types require: the caller has just written them. */
function selectPayload(type: GraphQLNamedType): SelectedField[] {
  return fieldsOf(type).flatMap((field) => {
    const named = getNamedType(field.type);
    return isLeafType(named)
      ? [{ name: field.name, field, selection: [] }]
      : [{ name: field.name, field, selection: selectAll(named) }];
  });
}

/**
 * Selects a record's own fields, and the id of the record it belongs to. Fields that require another scope are left
 * out, so that the answer to a change cannot fail for them. In a list, a row that joins two records has the ids of
 * both, and the list requires both scopes.
 */
function selectAll(type: GraphQLNamedType, { isList } = { isList: false }): SelectedField[] {
  return fieldsOf(type).flatMap((field) => {
    const named = getNamedType(field.type);
    if (isLeafType(named)) return [{ name: field.name, field, selection: [] }];
    if (isConnection(named) || isUnionType(named)) return [];
    const isReadable = scopeOf(named) === undefined || scopeOf(named) === scopeOf(type);
    const isJoined = isList && isRecord(named) && !isRecord(type);
    if (!isReadable && !isJoined) return [];
    const selection = selectAll(named);
    return [
      { name: field.name, field, selection: isRecord(named) ? selection.filter(isId) : selection },
    ];
  });
}

const scopeOfSelected = ({ field }: SelectedField) => scopeOf(getNamedType(field.type));

const isId = ({ name }: SelectedField) => name === 'id';

/** Whether a type is a record with its own id. */
export const isRecord = (type: GraphQLNamedType) =>
  isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');

// A field that needs an argument has no place in a plain answer.
function fieldsOf(type: GraphQLNamedType): GraphQLField<unknown, unknown>[] {
  if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`${type.name} has no fields.`);
  return Object.values(type.getFields()).filter(({ args }) =>
    args.every((arg) => !isNonNullType(arg.type)),
  );
}

function fieldOf(type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> {
  const field = fieldsOf(type).find((candidate) => candidate.name === name);
  if (!field) throw new Error(`${type.name} has no ${name}.`);
  return field;
}

function argument(field: GraphQLField<unknown, unknown>, name: string): GraphQLArgument {
  const found = field.args.find((arg) => arg.name === name);
  if (!found) throw new Error(`${field.name} has no argument ${name}.`);
  return found;
}

const print = (selection: readonly SelectedField[]): string =>
  `{ ${selection
    .map(({ name, selection: inner }) => (inner.length === 0 ? name : `${name} ${print(inner)}`))
    .join(' ')} }`;

/**
 * Reads the text of a query parameter by its type; GraphQL refuses text that does not fit. The values of a list come
 * each in a parameter of its own, or all in one, separated by commas.
 */
export function readParameter(type: GraphQLInputType, value: string | readonly string[]): unknown {
  const bare = isNonNullType(type) ? type.ofType : type;
  if (isListType(bare)) {
    const items = typeof value === 'string' ? value.split(',') : value;
    return items.map((item) => readParameter(bare.ofType as GraphQLInputType, item));
  }
  if (typeof value !== 'string') return value;
  const { name } = getNamedType(type);
  if (name === 'Boolean' && /^(true|false)$/.test(value)) return value === 'true';
  if ((name === 'Int' || name === 'Float') && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  return value;
}
