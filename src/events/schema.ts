import { assertAllowed, builder, nodeTypeOfEvents } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { connectionOf, pageInfoOf, pageSize } from '../graphql/lists/page.ts';
import { requestError } from '../graphql/request-error.ts';
import type { Actor } from '../services.ts';
import { catalogue, type EventName, enumValueOf, eventNames, typeNameOf } from './catalogue.ts';
import { asItIsNow } from './fields.ts';
import { findOneLive } from './live-records.ts';
import {
  assertRetained,
  CursorExpired,
  countEvents,
  decodePosition,
  type EventPosition,
  encodePosition,
  findEvents,
  type LoggedEvent,
  readEvents,
} from './log.ts';
import { typedFieldsOf } from './typed-fields.ts';

const ActorTypeEnum = builder.enumType('ActorType', {
  description: 'What did something.',
  values: {
    USER: { description: 'A person.' },
    APPLICATION: { description: 'An application, for itself.' },
    SYSTEM: { description: 'Signet itself.' },
  } as const,
});

const ActorInterface = builder.interfaceRef<Actor>('Actor').implement({
  description: 'Who did something.',
  resolveType: ({ type }) => actorTypes[type],
  fields: (t) => ({
    type: t.expose('type', { type: ActorTypeEnum, description: 'What did it.' }),
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
  description: 'A person who did something, through an application.',
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
  description: 'An application that did something for itself.',
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
  description: 'Signet itself, at a start or by the clock.',
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

// What loads events for `node` and `nodes`; the row tells which type each of them is.
const eventsById = {
  brandLoadedObjects: false,
  async loadManyWithoutCache(ids: string[], { caller, database: { prisma } }: GraphQLContext) {
    try {
      assertAllowed(caller, 'events:read');
    } catch (error) {
      // In the place of each: what else `nodes` was asked for is there all the same.
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

/** Something that happened. */
export const EventInterface = builder.interfaceRef<LoggedEvent>('Event').implement({
  description: 'Something that happened, written in the same transaction as the change itself.',
  authScopes: { scope: 'events:read' },
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: ({ type }) => typeNameOf(type),
  fields: (t) => ({
    id: t.exposeID('id', { description: "The event's id: a TypeID with the prefix `evt`." }),
    cursor: t.string({
      description: 'Its place in the log: read on or subscribe from here with `after`.',
      resolve: ({ position }) => encodePosition(position),
    }),
    type: t.expose('type', { type: EventTypeEnum, description: 'Its type.' }),
    name: t.exposeString('type', { description: "Its type's name, such as `User.Data.Updated`." }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it happened.' }),
    actor: t.expose('actor', { type: ActorInterface, nullable: true, description: 'Who did it.' }),
    data: t.expose('data', {
      type: 'JSONObject',
      description: 'What changed, as it was then: the same JSON that webhooks get.',
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

const EventConnection = connectionOf('Event', EventInterface);

function positionOf(argument: string | null | undefined): EventPosition | undefined {
  if (argument == null) return undefined;
  const position = decodePosition(argument);
  if (!position)
    throw requestError('BAD_USER_INPUT', `"${argument}" is not a cursor of the event log.`);
  return position;
}

async function refuseExpired(...check: Parameters<typeof assertRetained>): Promise<void> {
  try {
    await assertRetained(...check);
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error;
    throw cursorExpired();
  }
}

/** What a reader is told who asks for events behind a place from which not all are kept any more. */
export const cursorExpired = () =>
  requestError(
    'CURSOR_EXPIRED',
    'Events behind this cursor are not kept any more, or it is not of this log. Read what is there now, and go on from its last cursor.',
  );

builder.queryFields((t) => ({
  events: t.connection(
    {
      type: EventInterface,
      description: 'The event log, oldest first.',
      authScopes: { scope: 'events:read' },
      args: {
        types: t.arg({
          type: [EventTypeEnum],
          description: 'Events of these types. Absent: of all.',
        }),
        subjectId: t.arg.id({ description: 'Events about the thing with this id.' }),
        actorId: t.arg.id({ description: 'What the user or application with this id did.' }),
        since: t.arg({ type: 'DateTime', description: 'Events from this instant on.' }),
        until: t.arg({ type: 'DateTime', description: 'Events before this instant.' }),
      },
      resolve: async (_root, args, { database: { prisma } }) => {
        const size = pageSize(args);
        const isBackward = args.last != null;
        const filter = {
          types: args.types ?? undefined,
          subjectId: args.subjectId ?? undefined,
          actorId: args.actorId ?? undefined,
          since: args.since ?? undefined,
          until: args.until ?? undefined,
        };
        const after = positionOf(args.after);
        const before = positionOf(args.before);
        const found = await readEvents(prisma, {
          filter,
          after,
          before,
          take: size + 1,
          fromEnd: isBackward,
        });
        if (after) await refuseExpired(prisma, after);
        const hasMore = found.length > size;
        const page = isBackward ? found.slice(hasMore ? 1 : 0) : found.slice(0, size);
        const edges = page.map((node) => ({ node, cursor: encodePosition(node.position) }));
        return {
          edges,
          pageInfo: pageInfoOf(args, hasMore, (index) => edges.at(index)?.cursor),
          totalCount: () => countEvents(prisma, filter),
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
      'The event log, live: with `after` everything since that cursor first, then what comes, in order and each event once. A connection whose reader falls behind is closed (WebSocket code 1013): come again with the last cursor. One whose token is no longer good is closed with 4403. An `after` older than the log is kept, or not of this log, fails with `CURSOR_EXPIRED`.',
    authScopes: { scope: 'events:read' },
    args: {
      types: t.arg({
        type: [EventTypeEnum],
        description: 'Events of these types. Absent: of all.',
      }),
      after: t.arg.string({
        description:
          'A cursor of the log: begin behind it. Absent: from now on. Over server-sent events the header `Last-Event-ID` of a client that connects anew goes before it.',
      }),
      subjectId: t.arg.id({ description: 'Events about the thing with this id.' }),
      actorId: t.arg.id({ description: 'What the user or application with this id did.' }),
    },
    // The events themselves come from the process' one feed, not through here.
    subscribe: async (_root, args, { requestEvents, lastEventId, database: { prisma } }) => {
      const after = positionOf(lastEventId ?? args.after);
      if (after) await refuseExpired(prisma, after);
      requestEvents?.({
        types: args.types ?? undefined,
        subjectId: args.subjectId ?? undefined,
        actorId: args.actorId ?? undefined,
        after,
      });
      return nothing();
    },
    resolve: (event) => event as LoggedEvent,
  }),
);
