import {
  DirectiveLocation,
  type DocumentNode,
  type ExecutionResult,
  GraphQLDirective,
  getOperationAST,
} from 'graphql';
import { allows, type ManagementScope } from '../../auth/scopes.ts';
import { inOneTransaction, sqlOf, type Transaction } from '../../db/transaction.ts';
import type { GraphQLContext } from '../context.ts';
import type { raised } from './raised.ts';

/** Marks a mutation whose changes are undone. */
export const dryRun = new GraphQLDirective({
  name: 'dryRun',
  description:
    'Checks every rule and answers as usual, but undoes all changes: nothing is stored, no event is raised, and nothing is sent. All root fields run in one transaction: later ones see the changes of earlier ones. `extensions.dryRun.events` lists the events that the changes would raise, in their order. A caller without `events:read` sees those about records that it may read, without their `data`.',
  locations: [DirectiveLocation.MUTATION],
});

/** Whether an operation of a document is a dry run. */
export const isDryRun = (document: DocumentNode, operationName?: string | null): boolean =>
  getOperationAST(document, operationName)?.directives?.some(
    ({ name }) => name.value === dryRun.name,
  ) === true;

/** An event that a dry run would raise. */
interface RehearsedEvent {
  /** Its name in the catalogue. */
  readonly type: string;
  readonly subjectId: string | null;
  /** Null for a caller without `events:read`: it can hold what the caller may not read. */
  readonly data: unknown;
}

/** Executes an operation and undoes its changes. */
export function rehearse(
  { database, caller }: Pick<GraphQLContext, 'database' | 'caller'>,
  execute: () => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  return inOneTransaction(database, execute, {
    isRehearsal: true,
    async last(result, tx) {
      const events = shownTo(caller?.scopes ?? new Set(), tx ? await eventsOf(tx) : []);
      return { ...result, extensions: { ...result.extensions, [dryRun.name]: { events } } };
    },
  });
}

type Before<Name> = Name extends `${infer Kind}.${string}` ? Kind : Name;

/** The scope that reads the records of events, by the start of their types. */
const readScopes = {
  User: 'users:read',
  PostRegister: 'users:read',
  PostSignIn: 'users:read',
  PostResetPassword: 'users:read',
  OneTimeToken: 'users:read',
  Identifier: 'users:read',
  Role: 'roles:read',
  Resource: 'resources:read',
  Scope: 'resources:read',
  Application: 'applications:read',
  Organization: 'organizations:read',
  OrganizationRole: 'organizations:read',
  OrganizationScope: 'organizations:read',
  OrganizationInvitation: 'organizations:read',
  Webhook: 'webhooks:read',
  IdentityProvider: 'experience:read',
  SignInExperience: 'experience:read',
  MessageSender: 'experience:read',
  Message: 'experience:read',
  ServiceSettings: 'applications:read',
  RegistrationToken: 'applications:read',
  TrustedIssuer: 'applications:read',
  CrossAppConnection: 'applications:read',
  SigningKey: 'all',
} satisfies Record<Before<(typeof raised)[keyof typeof raised][number]>, ManagementScope>;

/**
 * The events that a caller may see. Otherwise the dry run of a deletion would list the organizations of a user, say, or
 * the roles with a scope.
 */
function shownTo(
  scopes: ReadonlySet<string>,
  events: readonly RehearsedEvent[],
): readonly RehearsedEvent[] {
  if (allows(scopes, 'events:read')) return events;
  return events
    .filter(({ type }) => allows(scopes, readScopeOf(type)))
    .map((event) => ({ ...event, data: null }));
}

const readScopeOf = (type: string): ManagementScope =>
  (readScopes as Readonly<Record<string, ManagementScope>>)[type.split('.')[0] ?? ''] ?? 'all';

const eventsOf = (tx: Transaction) =>
  sqlOf(tx).query<RehearsedEvent>(
    'rehearsed-events',
    `SELECT "type", "subjectId", "data" FROM "Event"
      WHERE "xid" = pg_current_xact_id() ORDER BY "position"`,
    [],
  );
