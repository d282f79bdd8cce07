import { assertAllowed, builder, nodeTypeOfEvents } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { connectionOf, pageInfoOf, pageSize } from '../graphql/lists/page.ts';
import { raised } from '../graphql/mutations/raised.ts';
import type { Actor } from '../services.ts';
import {
  catalogue,
  type EventName,
  enumValueOf,
  eventNames,
  typeNameOf,
} from './catalogue/catalogue.ts';
import { asItIsNow } from './catalogue/fields.ts';
import { findOneLive } from './catalogue/live-records.ts';
import { typedFieldsOf } from './catalogue/typed-fields.ts';
import { countEvents, findEvents, type LoggedEvent, readEvents } from './log.ts';
import { encodePosition } from './position.ts';
import { rangeOf, refuseExpired } from './range.ts';

const ActorTypeEnum = builder.enumType('ActorType', {
  description: 'The kinds of actor.',
  values: {
    USER: { description: 'A person.' },
    APPLICATION: { description: 'An application acting for itself.' },
    SYSTEM: { description: 'Signet itself.' },
  } as const,
});

/** Who did something. */
export const ActorInterface = builder.interfaceRef<Actor>('Actor').implement({
  description: 'The user, the application or the system that caused an event.',
  resolveType: ({ type }) => actorTypes[type],
  fields: (t) => ({
    type: t.expose('type', { type: ActorTypeEnum, description: 'The kind of actor.' }),
    id: t.exposeID('id', {
      nullable: true,
      description: "The user's or the application's id; null for Signet itself.",
    }),
    clientId: t.id({
      nullable: true,
      description: 'The application that a person acted through.',
      resolve: ({ clientId }) => clientId,
    }),
  }),
});

const actorTypes = {
  USER: 'UserActor',
  APPLICATION: 'ApplicationActor',
  SYSTEM: 'SystemActor',
} as const;

builder.objectType(builder.objectRef<Actor>('UserActor'), {
  description: 'A person acting through an application.',
  interfaces: [ActorInterface],
  fields: (t) => ({
    user: t.prismaField({
      type: 'User',
      nullable: true,
      description: `The user, ${asItIsNow}`,
      resolve: (query, { id }, _args, context) => findOneLive(context, 'User', id, query),
    }),
    application: t.prismaField({
      type: 'Application',
      nullable: true,
      description: `The application that the person acted through, ${asItIsNow}`,
      resolve: (query, { clientId }, _args, context) =>
        findOneLive(context, 'Application', clientId ?? null, query),
    }),
  }),
});

builder.objectType(builder.objectRef<Actor>('ApplicationActor'), {
  description: 'An application acting for itself.',
  interfaces: [ActorInterface],
  fields: (t) => ({
    application: t.prismaField({
      type: 'Application',
      nullable: true,
      description: `The application, ${asItIsNow}`,
      resolve: (query, { id }, _args, context) => findOneLive(context, 'Application', id, query),
    }),
  }),
});

builder.objectType(builder.objectRef<Actor>('SystemActor'), {
  description: 'Signet itself, at startup or on a schedule.',
  interfaces: [ActorInterface],
});

/** The types of events. */
export const EventTypeEnum = builder.enumType('EventType', {
  description: 'The types of events.',
  values: Object.fromEntries(
    eventNames.map((name) => [
      enumValueOf(name),
      { value: name, description: `\`${name}\`: ${catalogue[name].description}` },
    ]),
  ) as Record<string, { value: EventName; description: string }>,
});

// Loads events for `node` and `nodes`; the row says which type each event has.
const eventsById = {
  brandLoadedObjects: false,
  async loadManyWithoutCache(ids: string[], { caller, database: { prisma } }: GraphQLContext) {
    try {
      assertAllowed(caller, 'events:read');
    } catch (error) {
      // One error for each event, so that `nodes` still answers for the other records.
      return ids.map(() => error as Error);
    }
    const events = await findEvents(prisma, ids);
    const byId = new Map(events.map((event) => [event.id, event]));
    return ids.map((id) => {
      const event = byId.get(id);
      return event ? { ...event, __typename: typeNameOf(event.type) } : null;
    });
  },
};

/** A recorded event. */
export const EventInterface = builder.interfaceRef<LoggedEvent>('Event').implement({
  description: 'A recorded event. It is written in the same transaction as the change itself.',
  authScopes: { scope: 'events:read' },
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: ({ type }) => typeNameOf(type),
  fields: (t) => ({
    id: t.exposeID('id', { description: "The event's id: a TypeID with the prefix `evt`." }),
    cursor: t.string({
      description: 'Its position in the log. Pass it as `after` to read on or subscribe from here.',
      resolve: ({ position }) => encodePosition(position),
    }),
    type: t.expose('type', { type: EventTypeEnum, description: 'Its type.' }),
    name: t.exposeString('type', { description: "Its type's name, such as `User.Data.Updated`." }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it happened.' }),
    actor: t.expose('actor', { type: ActorInterface, nullable: true, description: 'Who did it.' }),
    ip: t.exposeString('ip', {
      nullable: true,
      description: 'The address of the client that called; null in the background.',
    }),
    userAgent: t.exposeString('userAgent', {
      nullable: true,
      description:
        "The client's `User-Agent` header, at most 512 characters; null without one, and in the background.",
    }),
    traceId: t.exposeString('traceId', {
      nullable: true,
      description:
        'The trace of the call that led to it: that of its `traceparent` header (W3C Trace Context), or one of its own. The log of the service has it as `traceId`. Null in the background.',
    }),
    data: t.expose('data', {
      type: 'JSONObject',
      description: 'The JSON that webhooks get: what changed, as it was then.',
    }),
  }),
});

for (const name of eventNames) {
  builder.objectType(builder.objectRef<LoggedEvent>(typeNameOf(name)), {
    description: catalogue[name].description,
    interfaces: [builder.nodeInterfaceRef(), EventInterface],
    isTypeOf: (event) => (event as LoggedEvent).type === name,
    ...(typeNameOf(name) === nodeTypeOfEvents ? eventsById : {}),
    fields: (t) => typedFieldsOf(t, name),
  });
}

raised satisfies Readonly<Record<string, readonly EventName[]>>;

const EventConnection = connectionOf('Event', EventInterface);

const aboutRecord =
  'Only events about the record with this id: those whose `data` has it, or as a field at its top level, such as `userId` or `applicationId`, or in a list there, such as `addedUserIds`.';

builder.queryFields((t) => ({
  events: t.connection(
    {
      type: EventInterface,
      description: 'The event log, oldest first.',
      authScopes: { scope: 'events:read' },
      args: {
        types: t.arg({
          type: [EventTypeEnum],
          description: 'Only events of these types. Absent: all types.',
        }),
        subjectId: t.arg.id({ description: aboutRecord }),
        actorId: t.arg.id({
          description: 'Only events caused by the user or application with this id.',
        }),
        since: t.arg({ type: 'DateTime', description: 'Only events at or after this instant.' }),
        until: t.arg({ type: 'DateTime', description: 'Only events before this instant.' }),
      },
      resolve: async (_root, args, { database: { prisma } }) => {
        const size = pageSize(args);
        const isBackward = args.last != null;
        const range = rangeOf(args);
        const found = await readEvents(prisma, { ...range, take: size + 1, fromEnd: isBackward });
        await refuseExpired(prisma, range.filter, range.after, range.before);
        const hasMore = found.length > size;
        const page = isBackward ? found.slice(hasMore ? 1 : 0) : found.slice(0, size);
        const edges = page.map((node) => ({ node, cursor: encodePosition(node.position) }));
        return {
          edges,
          pageInfo: pageInfoOf(args, hasMore, (index) => edges.at(index)?.cursor),
          totalCount: () => countEvents(prisma, range.filter),
        };
      },
    },
    EventConnection,
  ),
}));

async function* nothing(): AsyncGenerator<LoggedEvent> {}

builder.subscriptionField('events', (t) =>
  t.field({
    type: EventInterface,
    description:
      'The event log, live, in order and each event once. With `after` it sends the events after that cursor first, then new events. A connection whose reader is too slow is closed (WebSocket code 1013); reconnect with the last cursor. A connection whose token is no longer valid is closed with 4403. The error `CURSOR_EXPIRED` means that the log no longer holds the events after this cursor, or that the cursor is from another log.',
    authScopes: { scope: 'events:read' },
    args: {
      types: t.arg({
        type: [EventTypeEnum],
        description: 'Only events of these types. Absent: all types.',
      }),
      after: t.arg.string({
        description:
          'A cursor of the log; the subscription begins after it. Absent: new events only. Over server-sent events, the header `Last-Event-ID` of a client that reconnects takes precedence.',
      }),
      subjectId: t.arg.id({ description: aboutRecord }),
      actorId: t.arg.id({
        description: 'Only events caused by the user or application with this id.',
      }),
    },
    // The events come from the process's one feed, not from this iterator.
    subscribe: async (_root, args, { requestEvents, lastEventId, database: { prisma } }) => {
      const { filter, after } = rangeOf({ ...args, after: lastEventId ?? args.after });
      await refuseExpired(prisma, filter, after);
      requestEvents?.({ ...filter, after });
      return nothing();
    },
    resolve: (event) => event as LoggedEvent,
  }),
);
