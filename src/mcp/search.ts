import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isUnionType,
  OperationTypeNode,
  printType,
} from 'graphql';
import { scopeOf } from '../graphql/operations/scopes.ts';
import { isRecord } from '../rest/operation.ts';
import { schema } from '../schema.ts';

/** How many operations come with their types. */
const mostShown = 5;

/** A query or a mutation as it is found. */
interface FoundOperation {
  readonly kind: OperationTypeNode;
  readonly name: string;
  readonly description: string;
  /** The scopes that a token needs, or `all`. */
  readonly scopes: readonly string[];
  readonly arguments: readonly {
    readonly name: string;
    readonly type: string;
    readonly description: string;
  }[];
  readonly result: string;
}

/** What a search finds. */
interface Found {
  /** The best ones. */
  readonly operations: readonly FoundOperation[];
  /** The names of others. */
  readonly others: readonly string[];
  /** The types of the operations, and those that were asked for by name, in GraphQL's schema language. */
  readonly types: string;
}

interface Candidate {
  readonly kind: OperationTypeNode;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nameWords: ReadonlySet<string>;
  readonly otherWords: ReadonlySet<string>;
}

let all: readonly Candidate[] | undefined;

const candidates = (): readonly Candidate[] => {
  all ??= [OperationTypeNode.QUERY, OperationTypeNode.MUTATION].flatMap((kind) =>
    Object.values(schema.getRootType(kind)?.getFields() ?? {}).map((field) => {
      const { name, description, args } = field;
      const inputs = args.flatMap(({ name, type }) => {
        const named = getNamedType(type);
        return [name, ...(isInputObjectType(named) ? Object.keys(named.getFields()) : [])];
      });
      return {
        kind,
        field,
        nameWords: new Set(wordsOf(name)),
        otherWords: new Set(wordsOf([description, ...inputs].join(' '))),
      };
    }),
  );
  return all;
};

/** The words of a text or of names in it, in small letters and without a plural's ending. */
const wordsOf = (text: string): string[] =>
  (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? []).map((word) =>
    word.toLowerCase().replace(/(?<=..)s$/, ''),
  );

/** Finds operations by words of their names, descriptions and arguments, and types by name. */
export function searchOperations(query: string): Found {
  const words = [...new Set(wordsOf(query))];
  const names = new Set(query.match(/\w+/g));
  const ranked = candidates()
    .map((candidate) => ({ ...candidate, score: scoreOf(candidate, words, names) }))
    .filter(({ score }) => score > 0 || words.length === 0)
    .sort((a, b) => b.score - a.score);
  const shown = words.length === 0 ? [] : ranked.slice(0, mostShown);
  const types = new Set<GraphQLNamedType>();
  for (const name of names) {
    const type = schema.getType(name);
    if (type) collectTypes(type, types);
  }
  for (const { field } of shown) {
    for (const type of [field.type, ...field.args.map((arg) => arg.type)])
      collectTypes(getNamedType(type), types);
  }
  return {
    operations: shown.map(({ kind, field }) => describe(kind, field)),
    others: ranked.slice(shown.length).map(({ field }) => field.name),
    types: [...types].map(printType).join('\n\n'),
  };
}

function scoreOf(
  { field, nameWords, otherWords }: Candidate,
  words: readonly string[],
  names: ReadonlySet<string>,
): number {
  // A name is worth more the more of it is asked for.
  const scores = words.map((word) =>
    nameWords.has(word) ? 3 + 3 / nameWords.size : otherWords.has(word) ? 1 : 0,
  );
  // A single word, such as `user`, is a name only if nothing else is asked for.
  const isNamed = names.has(field.name) && (nameWords.size > 1 || words.length === 1);
  return scores.reduce((sum, score) => sum + score, isNamed ? 100 : 0);
}

const describe = (
  kind: OperationTypeNode,
  { name, description, args, type, ...field }: GraphQLField<unknown, unknown>,
): FoundOperation => ({
  kind,
  name,
  description: description ?? '',
  scopes: [scopeOf(field) ?? []].flat(),
  arguments: args.map((arg) => ({
    name: arg.name,
    type: String(arg.type),
    description: arg.description ?? '',
  })),
  result: String(type),
});

/** Adds a type with those that it is made of, up to the records: what belongs to a record is searched for by name. */
function collectTypes(
  type: GraphQLNamedType,
  found: Set<GraphQLNamedType>,
  isInRecord = false,
): void {
  if (found.has(type) || isScalarType(type)) return;
  if (isInRecord && (isRecord(type) || type.name.endsWith('Connection'))) return;
  found.add(type);
  if (isUnionType(type)) {
    for (const member of type.getTypes()) collectTypes(member, found, isInRecord);
  } else if (isInputObjectType(type) || isObjectType(type) || isInterfaceType(type)) {
    for (const field of Object.values(type.getFields()))
      collectTypes(getNamedType(field.type as GraphQLType), found, isInRecord || isRecord(type));
  }
}
