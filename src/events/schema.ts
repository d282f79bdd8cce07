import type { Actor } from '../auth/context.ts';
import { assertAllowed, builder, nodeTypeOfEvents } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { connectionOf, pageSize } from '../graphql/list.ts';
import { requestError } from '../graphql/request-error.ts';
import { catalogue, type EventName, enumValueOf, eventNames, typeNameOf } from './catalogue.ts';
import { findLive } from './live-records.ts';
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
import { typedFields } from './typed-fields.ts';

const ActorTypeEnum = builder.enumType('ActorType', {
  description: 'What did something.',
  values: {
    USER: { description: 'A person.' },
    APPLICATION: { description: 'An application, for itself.' },
    SYSTEM: { description: 'Signet itself.' },
  } as const,
});

const ActorObject = builder.objectRef<Actor>('Actor').implement({
  description: 'Who did something.',
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
    assertAllowed(caller, 'events:read');
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
    actor: t.expose('actor', { type: ActorObject, nullable: true, description: 'Who did it.' }),
    data: t.expose('data', {
      type: 'JSONObject',
      description: 'What changed, as it was then: the same JSON that webhooks get.',
    }),
  }),
});

/** How many records a list of an event is taken to have when a request is priced: few have more. */
const listCost = 10;

for (const name of eventNames) {
  const { one, many, text } = typedFields[name];
  builder.objectType(builder.objectRef<LoggedEvent>(typeNameOf(name)), {
    description: catalogue[name].description,
    interfaces: [builder.nodeInterfaceRef(), EventInterface],
    isTypeOf: (event) => (event as LoggedEvent).type === name,
    ...(typeNameOf(name) === nodeTypeOfEvents ? eventsById : {}),
    fields: (t) => ({
      ...mapValues(one, ({ model, id, description }) =>
        t.prismaField({
          type: model,
          nullable: true,
          description,
          resolve: async (query, { data }, _args, context) => {
            const found = id(data);
            if (found === null) return null;
            return (await findLive(context, model, [found], query))[0] as never;
          },
        }),
      ),
      ...mapValues(many, ({ model, ids, description }) =>
        t.prismaField({
          type: [model],
          // Where the reader may not see them, the event itself is still there.
          nullable: true,
          description,
          complexity: { field: 1, multiplier: listCost },
          resolve: async (query, { data }, _args, context) =>
            (await findLive(context, model, ids(data), query)).filter(
              (record) => record !== null,
            ) as never,
        }),
      ),
      ...mapValues(text, (field) =>
        t.string({
          nullable: true,
          description: field.description,
          resolve: ({ data }) => field.text(data) as string | null,
        }),
      ),
    }),
  });
}

function mapValues<Value, Result>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
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
          pageInfo: {
            hasNextPage: isBackward ? before !== undefined : hasMore,
            hasPreviousPage: isBackward ? hasMore : after !== undefined,
            startCursor: edges.at(0)?.cursor ?? null,
            endCursor: edges.at(-1)?.cursor ?? null,
          },
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
        description: 'A cursor of the log: begin behind it. Absent: from now on.',
      }),
    },
    // The events themselves come from the process' one feed, not through here.
    subscribe: async (_root, args, { requestEvents, database: { prisma } }) => {
      const after = positionOf(args.after);
      if (after) await refuseExpired(prisma, after);
      requestEvents?.({ types: args.types ?? undefined, after });
      return nothing();
    },
    resolve: (event) => event as LoggedEvent,
  }),
);
