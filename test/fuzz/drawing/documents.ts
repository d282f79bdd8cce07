import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { type Gen, numberBelow, pick, rarely } from './fuzz.ts';
import { inputOf } from './inputs.ts';
import { damaged, hostileJson, hostileText } from './values.ts';

/** A body of a GraphQL request. */
export interface GraphQLBody {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A document that fits the schema, mostly with hostile variables. */
export function validDocument(
  g: Gen,
  schema: GraphQLSchema,
  kind: 'query' | 'mutation',
  ids: readonly string[],
): GraphQLBody {
  const variables: Record<string, unknown> = {};
  const declared: string[] = [];
  const fragments: string[] = [];

  function argumentsOf({ args }: GraphQLField<unknown, unknown>): string {
    const given = args.filter((arg) => isNonNullType(arg.type) || rarely(g, 2));
    if (given.length === 0) return '';
    const texts = given.map((arg) => {
      const name = `v${declared.length}`;
      declared.push(`$${name}: ${arg.type}`);
      variables[name] = inputOf(g, arg.type, ids);
      return `${arg.name}: $${name}`;
    });
    return `(${texts.join(', ')})`;
  }

  function directive(): string {
    if (!rarely(g, 15)) return '';
    const name = `v${declared.length}`;
    declared.push(`$${name}: Boolean!`);
    variables[name] = rarely(g, 3) ? hostileJson(g) : true;
    return ` @${pick(g, ['include', 'skip'])}(if: $${name})`;
  }

  function selection(type: GraphQLNamedType, depth: number): string {
    if (isAbstractType(type)) {
      const members = schema.getPossibleTypes(type).filter((_, i) => i === 0 || rarely(g, 2));
      const parts = members.map(
        (one) => `... on ${one.name}${directive()} ${selection(one, depth)}`,
      );
      return `{ __typename ${parts.join(' ')} }`;
    }
    if (!isObjectType(type)) return '';
    const parts = Object.values(type.getFields()).flatMap((field) => {
      const named = getNamedType(field.type);
      if (isLeafType(named))
        return rarely(g, 2) ? [`${field.name}${argumentsOf(field)}${directive()}`] : [];
      if (depth > 2 || !isCompositeType(named) || !rarely(g, 3)) return [];
      return [`${field.name}${argumentsOf(field)}${directive()} ${selection(named, depth + 1)}`];
    });
    const text = `{ __typename ${parts.join(' ')} }`;
    if (!rarely(g, 10)) return text;
    const name = `F${fragments.length}`;
    fragments.push(`fragment ${name} on ${type.name} ${text}`);
    return `{ ...${name} }`;
  }

  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
  const field = pick(g, Object.values(root?.getFields() ?? {}));
  const named = getNamedType(field.type);
  const text = `${field.name}${argumentsOf(field)} ${isLeafType(named) ? '' : selection(named, 0)}`;
  const declarations = declared.length > 0 ? `(${declared.join(', ')})` : '';
  return { query: `${kind} ${declarations} { ${text} } ${fragments.join(' ')}`, variables };
}

const huge: readonly ((count: number) => string)[] = [
  (count) => '{ node(id: "a") '.repeat(count),
  (count) => `{ ${'a { '.repeat(count)} b ${'} '.repeat(count)} }`,
  (count) => `{ ${Array.from({ length: count }, (_, i) => `a${i}: __typename`).join(' ')} }`,
  (count) => `{ __typename ${'@include(if: true) '.repeat(count)} }`,
  (count) => `{ __typename ${'@fuzz '.repeat(count)} }`,
  (count) =>
    `{ ...F0 } ${Array.from({ length: count }, (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`).join(' ')}`,
  () => '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
  (count) =>
    `query (${Array.from({ length: count }, (_, i) => `$v${i}: [[[Int]]] = [[[1]]]`).join(', ')}) { __typename }`,
  (count) => `{ users(first: ${'9'.repeat(count)}) { edges { cursor } } }`,
  (count) => `{ node(id: "${'x'.repeat(count)}") { id } }`,
  (count) => `{ node(id: ${'['.repeat(count)}) { id } }`,
  (count) => `{ __schema ${'{ types { fields { type '.repeat(count)} `,
  (count) => '#'.repeat(count * 10),
  (count) => `"""${'x'.repeat(count)}""" { __typename }`,
  () => '{ node(id: "\\ud800") { id } }',
  () => '{ node(id: "\\u{110000}") { id } }',
  () => 'subscription { events { id } } query A { __typename } query A { __typename }',
  () => 'type Query { a: Int } extend schema @fuzz',
  () => '{ __type(name: "\\u0000") { name } }',
];

/** A body that is no document of the schema, or no body at all. */
export function brokenBody(g: Gen, valid: GraphQLBody): unknown {
  switch (numberBelow(g, 6)) {
    case 0:
      return { ...valid, query: damaged(g, valid.query) };
    case 1:
      return { query: pick(g, huge)(pick(g, [1, 10, 100, 1000, 6000])) };
    case 2:
      return {
        ...valid,
        [pick(g, ['query', 'variables', 'operationName', 'extensions'])]: hostileJson(g),
      };
    case 3:
      return Array.from({ length: 1 + numberBelow(g, 4) }, () => valid);
    case 4:
      return damaged(g, JSON.stringify(valid));
    default:
      return rarely(g, 2) ? hostileText(g) : hostileJson(g);
  }
}
