import fc from 'fast-check';
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { type Gen, numberBelow, pick, rarely } from './fuzz.ts';
import { damaged, flipped, hostileText } from './values.ts';

/** A connection of a schema, and a document that reads it with `$after`, `$before`, `$first`, `$last` and `$id`. */
export interface Connection {
  readonly name: string;
  readonly documents: readonly string[];
}

type Field = GraphQLField<unknown, unknown>;
const isConnection = ({ args }: Field) => args.some(({ name }) => name === 'after');
const needsNothing = ({ args }: Field) => args.every(({ type }) => !isNonNullType(type));

/** Every way in which a list can be ordered, as an argument; none first. */
function ordersOf({ args }: Field): string[] {
  const type = getNamedType(args.find(({ name }) => name === 'orderBy')?.type);
  if (!isInputObjectType(type)) return [''];
  const fields = getNamedType(type.getFields()['field']?.type);
  const names = isEnumType(fields) ? fields.getValues().map(({ name }) => name) : [];
  return [
    '',
    ...names.flatMap((name) =>
      ['ASC', 'DESC'].map((way) => `, orderBy: { field: ${name}, direction: ${way} }`),
    ),
  ];
}

/** Every connection of a schema that can be reached from its root, or from a record by its id. */
export function connectionsOf(schema: GraphQLSchema): Connection[] {
  const page = (field: Field, order: string) =>
    `${field.name}(first: $first, last: $last, after: $after, before: $before${order}) {
       edges { cursor } pageInfo { startCursor endCursor hasNextPage } }`;
  const make = (name: string, field: Field, wrap: (inner: string) => string): Connection => ({
    name,
    documents: ordersOf(field).map((order) => {
      const text = wrap(page(field, order));
      const id = text.includes('$id') ? ', $id: ID!' : '';
      return `query ($first: Int, $last: Int, $after: String, $before: String${id}) { ${text} }`;
    }),
  });
  const connectionsIn = (type: GraphQLObjectType) =>
    Object.values(type.getFields()).filter((field) => isConnection(field) && needsNothing(field));

  const root = schema.getQueryType()?.getFields() ?? {};
  const nodes = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType =>
      isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'),
  );
  return [
    ...Object.values(root)
      .filter((field) => isConnection(field) && needsNothing(field))
      .map((field) => make(field.name, field, (inner) => inner)),
    ...Object.values(root).flatMap((parent) => {
      const type = getNamedType(parent.type);
      if (!isObjectType(type) || isConnection(parent) || !needsNothing(parent)) return [];
      return connectionsIn(type).map((field) =>
        make(`${parent.name}.${field.name}`, field, (inner) => `${parent.name} { ${inner} }`),
      );
    }),
    ...nodes.flatMap((type) =>
      root['node']
        ? connectionsIn(type).map((field) =>
            make(
              `${type.name}.${field.name}`,
              field,
              (inner) => `node(id: $id) { ... on ${type.name} { ${inner} } }`,
            ),
          )
        : [],
    ),
  ];
}

const anyJson = () => fc.jsonValue({ maxDepth: 3 });
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A cursor that is hostile, damaged, or of another list. */
export function hostileCursor(g: Gen, known: readonly string[]): string {
  const good = pick(g, known);
  switch (numberBelow(g, 7)) {
    case 0:
      return good;
    case 1:
      return damaged(g, good);
    case 2:
      return flipped(g, Buffer.from(good, 'base64url')).toString('base64url');
    case 3:
      return encoded([rarely(g, 3) ? null : hostileText(g), hostileText(g)]);
    case 4:
      return encoded(g(anyJson));
    case 5:
      return Buffer.from(hostileText(g)).toString('base64url');
    default:
      return hostileText(g);
  }
}
