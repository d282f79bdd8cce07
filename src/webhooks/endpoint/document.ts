import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  Kind,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { managementIndicator } from '../../auth/scopes.ts';
import { toNumericDate } from '../../clock.ts';
import { maxMessageBytes } from '../../events/bounds.ts';
import type { EventName } from '../../events/catalogue/catalogue.ts';
import type { LoggedEvent } from '../../events/log.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { findExcess } from '../../graphql/cost.ts';
import { limitAliases } from '../../graphql/limit-aliases.ts';
import { parseDocument } from '../../graphql/parse-document.ts';
import { isForClient, publicError } from '../../graphql/public-error.ts';
import { requestError } from '../../graphql/request-error.ts';
import { type Services, systemActor } from '../../services.ts';

/** A document that cannot be a webhook's query. It names all faults at once. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join(' '));
    this.faults = faults;
  }
}

/**
 * Checks that a document can be a webhook's query: one subscription to `events`, valid against the schema, within
 * the limits of any other document, and complete without variables.
 *
 * @param options.hideSuggestions Whether the faults suggest no names of the schema.
 * @returns The types of events that it selects, or null for all.
 * @throws {DocumentFault}
 */
export function checkDocument(
  schema: GraphQLSchema,
  source: string,
  options: { readonly hideSuggestions: boolean } = { hideSuggestions: true },
): EventName[] | null {
  const document = parseSource(source);
  const errors = validate(schema, document, [...specifiedRules, limitAliases], options);
  if (errors.length > 0) throw new DocumentFault(errors.map(({ message }) => message));
  const { operation, field } = soleField(document);

  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], {});
  if (variables.errors) {
    throw new DocumentFault(['must not have variables without a default value']);
  }
  const cost = complexityFromQuery(document, { schema, variables: {} });
  if (findExcess(cost)) {
    const { depth, breadth, complexity } = cost;
    throw new DocumentFault([
      `is too complex: its depth is ${depth}, its breadth ${breadth}, its cost ${complexity}`,
    ]);
  }
  const definition = schema.getSubscriptionType()?.getFields()['events'];
  if (!definition) throw new Error('A valid subscription to events has no definition.');
  const { types, after, subjectId, actorId } = getArgumentValues(
    definition,
    field,
    variables.variableValues,
  ) as {
    types?: EventName[] | null;
    after?: unknown;
    subjectId?: unknown;
    actorId?: unknown;
  };
  if (types?.length === 0) throw new DocumentFault(['must not have an empty "types"']);
  if (after != null) throw new DocumentFault(['must not have "after": a webhook gets what is new']);
  if (subjectId != null || actorId != null) {
    throw new DocumentFault(['must not have "subjectId" or "actorId": a webhook chooses by type']);
  }
  return types ?? null;
}

function parseSource(source: string): DocumentNode {
  try {
    return parseDocument(source);
  } catch (error) {
    if (error instanceof GraphQLError) throw new DocumentFault([error.message]);
    throw error;
  }
}

function soleField(document: DocumentNode) {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  const fault = new DocumentFault([
    'must be one subscription, whose only field is "events" and stands there unconditionally',
  ]);
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operations.length !== 1) throw fault;
  const [field] = operation.selectionSet.selections;
  const isEvents =
    operation.operation === OperationTypeNode.SUBSCRIPTION &&
    operation.selectionSet.selections.length === 1 &&
    field?.kind === Kind.FIELD &&
    field.name.value === 'events' &&
    (field.directives ?? []).length === 0;
  if (!isEvents) throw fault;
  return { operation, field: field as FieldNode };
}

/** What stands for a result that is too large for a message, as JSON. */
export const tooLargeResult: string = JSON.stringify({
  data: null,
  errors: [
    publicError(
      requestError(
        'QUERY_TOO_COMPLEX',
        `The message would have more than ${maxMessageBytes / 1024} KiB. Read the event by its id.`,
      ),
    ),
  ],
});

/** Runs webhooks' queries, parsing each document once. */
export class DocumentRunner {
  readonly #services: Services;
  readonly #schema: GraphQLSchema;
  readonly #parsed = new Map<string, DocumentNode>();

  constructor(services: Services, schema: GraphQLSchema) {
    this.#services = services;
    this.#schema = schema;
  }

  /**
   * Executes the document on the event, as for a subscription with these scopes.
   *
   * @returns The result as JSON: an object with `data`, and with `errors` if there are any.
   * @throws The cause of an internal error: a result with a masked error is not delivered.
   */
  async run(
    source: string,
    event: LoggedEvent,
    scopes: ReadonlySet<string>,
    traceId: string,
  ): Promise<string> {
    const result = await execute({
      schema: this.#schema,
      document: this.#document(source),
      rootValue: event,
      contextValue: this.#context(scopes, traceId),
    });
    for (const error of result.errors ?? []) {
      if (!isForClient(error)) throw error.originalError ?? error;
    }
    return JSON.stringify({
      data: result.data ?? null,
      ...(result.errors ? { errors: result.errors.map(publicError) } : {}),
    });
  }

  #document(source: string): DocumentNode {
    let document = this.#parsed.get(source);
    if (!document) {
      if (this.#parsed.size >= 1000) this.#parsed.clear();
      document = parse(source);
      this.#parsed.set(source, document);
    }
    return document;
  }

  #context(scopes: ReadonlySet<string>, traceId: string): GraphQLContext {
    const { clock, issuer } = this.#services;
    const now = toNumericDate(clock.now());
    return {
      ...this.#services,
      actor: systemActor,
      traceId,
      ip: null,
      userAgent: null,
      caller: {
        actor: systemActor,
        scopes,
        expiresAt: new Date((now + 60) * 1000),
        claims: {
          iss: issuer,
          sub: 'webhook',
          aud: managementIndicator,
          client_id: 'webhook',
          iat: now,
          exp: now + 60,
          jti: traceId,
        },
      },
    };
  }
}
