import { allows, type ManagementScope } from '../auth/scopes.ts';
import { builder } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { requestError } from '../graphql/request-error.ts';
import { type PreviousSecretState, readPrevious } from '../secret-rotation/use.ts';
import {
  type ConfigurationValue,
  configurationOf,
  readDatabaseVersion,
  startOf,
  thisNode,
} from './about.ts';
import { readActivity } from './activity.ts';
import { ActivityObject, ActivityRangeEnum } from './activity-schema.ts';
import { type MinuteFigures, readFigures } from './figures.ts';
import { type LivingNode, listNodes } from './nodes.ts';

/** The most minutes of figures in one answer: a day. */
const maxMinutes = 1440;
const defaultMinutes = 60;

const DatabaseKindEnum = builder.enumType('DatabaseKind', {
  description: 'A kind of database.',
  values: {
    POSTGRESQL: { description: 'PostgreSQL, which several processes share.' },
    EMBEDDED: { description: 'PostgreSQL inside the one process.' },
  } as const,
});

const ConfigurationValueObject = builder
  .objectRef<ConfigurationValue>('ConfigurationValue')
  .implement({
    description: 'A variable of the configuration.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'The name of the variable.' }),
      value: t.exposeString('value', {
        description: 'Its value, as the service understood it; empty if there is none.',
      }),
    }),
  });

const PreviousSecretStateEnum = builder.enumType('PreviousSecretState', {
  description: 'What has become of `SIGNET_SECRET_PREVIOUS` while the secret changes.',
  values: {
    UNUSED: { description: 'No process encrypts with it yet: it is the coming one.' },
    IN_USE: { description: 'Other processes encrypt with it.' },
    RE_ENCRYPTING: { description: 'What it encrypted is being encrypted anew.' },
    RE_ENCRYPTED: {
      description: 'Nothing stored needs it; cookies that it signed may still be valid.',
    },
    NO_LONGER_NEEDED: { description: 'Nothing needs it: remove the variable.' },
  } as const satisfies Record<PreviousSecretState, object>,
});

const ServiceNode = builder.objectRef<LivingNode>('ServiceNode').implement({
  description: 'A living process of the service. One that was killed is listed for half a minute.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its host, and its number there.' }),
    version: t.exposeString('version', { description: 'Its version of Signet.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it started.' }),
    seenAt: t.expose('seenAt', {
      type: 'DateTime',
      description: 'When it last said that it lives, by the clock of the database.',
    }),
    isThis: t.exposeBoolean('isThis', { description: 'Whether it is the process that answers.' }),
    differsIn: t.exposeStringList('differsIn', {
      description:
        'In what it differs from the process that answers, of what all should have in common: variables, `VERSION`, and `EVENT_TYPES` for another catalogue of events.',
    }),
  }),
});

const Service = builder.objectRef<typeof thisNode>('Service').implement({
  description: 'The process that answers, and how it was set up.',
  authScopes: { scope: 'events:read' },
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The version of Signet.' }),
    nodeId: t.exposeString('id', {
      description: 'The name of the process: its host and its number there.',
    }),
    nodeVersion: t.exposeString('nodeVersion', { description: 'The version of Node.' }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When it started.',
      resolve: (_node, _args, context) => startOf(context),
    }),
    database: t.field({
      type: DatabaseKindEnum,
      description: 'The kind of its database.',
      resolve: (_node, _args, { database }) =>
        database.kind === 'postgresql' ? 'POSTGRESQL' : 'EMBEDDED',
    }),
    databaseVersion: t.string({
      description: 'The version of PostgreSQL.',
      resolve: (_node, _args, context) => readDatabaseVersion(context),
    }),
    baseUrl: t.field({
      type: 'URL',
      description: 'The public URL.',
      resolve: (_node, _args, { baseUrl }) => baseUrl,
    }),
    issuer: t.field({
      type: 'URL',
      description: 'The issuer of tokens.',
      resolve: (_node, _args, { issuer }) => issuer,
    }),
    nodes: t.field({
      type: [ServiceNode],
      description: 'The living processes on the same database, the oldest first.',
      resolve: (_node, _args, context) => listNodes(context),
    }),
    configuration: t.field({
      type: [ConfigurationValueObject],
      description: 'The configuration, without secrets and without the address of the database.',
      resolve: (_node, _args, context) => configurationOf(context),
    }),
    previousSecret: t.field({
      type: PreviousSecretStateEnum,
      nullable: true,
      description:
        'What has become of `SIGNET_SECRET_PREVIOUS`; null where the process has none. The second line of `/readyz` says the same.',
      resolve: async (_node, _args, context) => (await readPrevious(context))?.state ?? null,
    }),
  }),
});

const MinuteFiguresObject = builder.objectRef<MinuteFigures>('MinuteFigures').implement({
  description: 'What was done in one minute, by all processes together.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'The beginning of the minute.' }),
    signIns: t.exposeInt('signIns', { description: 'People who signed in.' }),
    failedSignIns: t.exposeInt('failedSignIns', {
      description: 'Sign-ins, and proofs of people, that failed.',
    }),
    exchanges: t.exposeInt('exchanges', { description: 'Tokens that were exchanged.' }),
    refusedExchanges: t.exposeInt('refusedExchanges', {
      description: 'Exchanges that were refused.',
    }),
    mutations: t.exposeInt('mutations', {
      description: 'Mutations of the management API that did their work, in GraphQL and REST.',
    }),
    deliveries: t.exposeInt('deliveries', {
      description: 'Attempts to deliver an event to a webhook that succeeded.',
    }),
    failedDeliveries: t.exposeInt('failedDeliveries', {
      description: 'Attempts to deliver an event to a webhook that failed.',
    }),
  }),
});

type Countable = 'user' | 'application' | 'organization' | 'role' | 'resource' | 'webhook';

const countOf =
  (table: Countable, scope: ManagementScope) =>
  async (_root: unknown, _args: object, { caller, database }: GraphQLContext) => {
    if (!caller || !allows(caller.scopes, scope)) return null;
    // Each has a method `count`; the compiler sees a union of functions that differ in their filters.
    const { count } = database.prisma[table] as { count(): Promise<number> };
    return count.call(database.prisma[table]);
  };

const Statistics = builder.objectRef<object>('Statistics').implement({
  description: 'Figures of the whole service. A count is null without the read scope of its area.',
  authScopes: { scope: 'events:read' },
  fields: (t) => {
    const counted = (table: Countable, area: string, what: string) =>
      t.int({
        nullable: true,
        description: `The number of ${what}. Null without \`${area}:read\`.`,
        resolve: countOf(table, `${area}:read` as ManagementScope),
      });
    return {
      users: counted('user', 'users', 'users'),
      applications: counted('application', 'applications', 'applications, the console among them'),
      organizations: counted('organization', 'organizations', 'organizations'),
      roles: counted('role', 'roles', 'roles'),
      resources: counted('resource', 'resources', 'resources'),
      webhooks: counted('webhook', 'webhooks', 'webhooks'),
      minutes: t.field({
        type: [MinuteFiguresObject],
        description:
          'What was done in each of the last minutes, oldest first, the current minute included. Processes add their figures every few seconds.',
        args: {
          last: t.arg.int({
            defaultValue: defaultMinutes,
            description: `How many minutes, at most ${maxMinutes}.`,
          }),
        },
        complexity: ({ last }) => ({ field: 1, multiplier: Math.max(last ?? defaultMinutes, 1) }),
        resolve: (_root, args, context) => {
          const last = args.last ?? defaultMinutes;
          if (last < 1 || last > maxMinutes) {
            throw requestError('BAD_USER_INPUT', `"last" must be between 1 and ${maxMinutes}.`);
          }
          return readFigures(context, last);
        },
      }),
      activity: t.field({
        type: ActivityObject,
        description:
          'What was done in a range of time up to now, and in the one before. Processes add their figures every few seconds; by the hour they are kept for 90 days.',
        args: {
          range: t.arg({ type: ActivityRangeEnum, required: true, description: 'How far back.' }),
        },
        resolve: (_root, { range }, context) => readActivity(context, range),
      }),
    };
  },
});

builder.queryFields((t) => ({
  service: t.field({
    type: Service,
    description: 'The process that answers, and how it was set up. Requires `events:read`.',
    authScopes: { scope: 'events:read' },
    resolve: () => thisNode,
  }),
  statistics: t.field({
    type: Statistics,
    description: 'Figures of the whole service. Requires `events:read`.',
    authScopes: { scope: 'events:read' },
    resolve: () => ({}),
  }),
}));
