import type { IncomingHttpHeaders } from 'node:http';
import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInterfaceType,
  isObjectType,
  Kind,
  OperationTypeNode,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { kindOfId } from '../../ids.ts';
import { counterOf } from '../../metrics/metrics.ts';
import type { Services } from '../../services.ts';
import type { GraphQLContext, Place } from '../context.ts';

/** The header that tells a client how far the database was after its mutation, and that it sends back. */
export const positionHeader = 'Signet-Position';

/**
 * What is only read at the primary, wherever a query selects it: the log and what is followed live, whose order no
 * replica knows; the state of tokens, sessions and consents, and answers about rights; rules and settings, of which one
 * must not see an old version before one changes them. Everything else may be a little behind.
 */
const typesOfPrimary = [
  'Event',
  'Delivery',
  'ApplicationSecret',
  'PersonalAccessToken',
  'RegistrationToken',
  'SubjectToken',
  'Session',
  'UserGrant',
  'Permission',
  'PermissionHolder',
  'TokenExchangeExplanation',
  'SigningKey',
  'SignInExperience',
  'ServiceSettings',
  'MessageSender',
  'Configuration',
  'Service',
] as const;

const reachedTypes = new WeakMap<GraphQLSchema, ReadonlySet<string>>();

/** The names of {@link typesOfPrimary}, of the types that implement them, and of lists of them. */
function typesReadAtPrimary(schema: GraphQLSchema): ReadonlySet<string> {
  const known = reachedTypes.get(schema);
  if (known) return known;
  const names = new Set<string>(typesOfPrimary);
  for (const name of typesOfPrimary) {
    const type = schema.getType(name);
    if (isInterfaceType(type))
      for (const { name } of schema.getImplementations(type).objects) names.add(name);
  }
  // First the edges, then the connections.
  for (const field of ['node', 'edges']) {
    for (const type of Object.values(schema.getTypeMap())) {
      const inner = isObjectType(type) ? type.getFields()[field] : undefined;
      if (inner && names.has(getNamedType(inner.type).name)) names.add(type.name);
    }
  }
  reachedTypes.set(schema, names);
  return names;
}

/** What a document reads. */
interface Reading {
  readonly isOfPrimary: boolean;
  /** The ids that it gives to `node` and `nodes`, which may be of any type. */
  readonly ids: readonly ValueNode[];
}

const readings = new WeakMap<DocumentNode, Reading>();

/** Finds out what a document reads, whichever of its operations runs. */
function readingOf(schema: GraphQLSchema, document: DocumentNode): Reading {
  const known = readings.get(document);
  if (known) return known;
  const names = typesReadAtPrimary(schema);
  const info = new TypeInfo(schema);
  const ids: ValueNode[] = [];
  let isOfPrimary = false;
  const note = () => {
    const type = info.getType();
    if (type && names.has(getNamedType(type).name)) isOfPrimary = true;
  };
  visit(
    document,
    visitWithTypeInfo(info, {
      Field({ name, arguments: given = [] }) {
        note();
        if (info.getParentType() !== schema.getQueryType()) return;
        if (name.value !== 'node' && name.value !== 'nodes') return;
        ids.push(...given.map(({ value }) => value));
      },
      InlineFragment: note,
      FragmentDefinition: note,
    }),
  );
  const reading = { isOfPrimary, ids };
  readings.set(document, reading);
  return reading;
}

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** The texts of an argument; undefined if it has a default of the document. */
function textsOf(value: ValueNode, variables: Variables): unknown[] | undefined {
  switch (value.kind) {
    case Kind.VARIABLE: {
      const given = variables?.[value.name.value];
      return given === undefined ? undefined : [given].flat();
    }
    case Kind.LIST: {
      const texts = value.values.map((one) => textsOf(one, variables));
      return texts.includes(undefined) ? undefined : texts.flat();
    }
    case Kind.STRING:
      return [value.value];
    default:
      return [];
  }
}

/** An operation that is about to run. */
export interface Asked {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Variables;
}

const isQuery = ({ document, operationName }: Asked) =>
  getOperationAST(document, operationName)?.operation === OperationTypeNode.QUERY;

/** Whether a replica may answer a query. */
export function mayReadReplica({ schema, document, variableValues }: Asked): boolean {
  const { isOfPrimary, ids } = readingOf(schema, document);
  if (isOfPrimary) return false;
  const names = typesReadAtPrimary(schema);
  return ids.every((value) =>
    textsOf(value, variableValues)?.every((id) => !names.has(kindOfId(String(id)) ?? '')),
  );
}

/**
 * The context in which an operation runs: with a replica as its database if it is a query that may read one, and one is
 * near enough. A request that cannot carry a position, such as one over a WebSocket or MCP, reads the primary: it could not
 * see its own changes. Nowhere else is a replica chosen.
 */
export function contextForReading(context: GraphQLContext, asked: Asked): GraphQLContext {
  const { database, place, metrics } = context;
  const { replicas } = database;
  if (!replicas || !place || !isQuery(asked)) return context;
  const reader = mayReadReplica(asked) ? replicas.reader(place.asked) : undefined;
  counterOf(metrics, 'signet_reads_total').inc({ place: reader ? 'replica' : 'primary' });
  return reader ? { ...context, database: reader } : context;
}

/**
 * The place of a request's client in the history of the database; undefined if there are no replicas, so that the
 * header means nothing.
 */
export const placeOf = (
  { database: { replicas } }: Pick<Services, 'database'>,
  headers: IncomingHttpHeaders,
  tell: (name: string, value: string) => void,
): Place | undefined =>
  replicas && {
    // Given twice, it is no position.
    asked: headers[positionHeader.toLowerCase()]?.toString(),
    tell: async () => tell(positionHeader, await replicas.position()),
  };
