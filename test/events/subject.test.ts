import { expect, test } from 'vitest';
import { countEvents } from '../../src/events/log.ts';
import type { NewEvent } from '../../src/events/record.ts';
import { newId } from '../../src/ids.ts';
import { raise, settled } from '../support/log.ts';
import { send } from '../support/operations/graphql.ts';
import { connect, logEnd, subscribe } from '../support/peers/subscriber.ts';
import { startSecondNode, startService } from '../support/service.ts';

const service = await startService();
const other = await startSecondNode(service);
const { services } = service.app;
const { database } = services;
const endpoint = { url: other.url, token: await service.managementToken() };

const [userId, applicationId, grantId, sessionId] = [
  newId('User'),
  newId('Application'),
  newId('UserGrant'),
  newId('Session'),
];
const stranger = newId('User');
const [organizationId, resourceId, scopeId] = [
  newId('Organization'),
  newId('Resource'),
  newId('Scope'),
];
const organizationRoleId = newId('OrganizationRole');
const written = { createdAt: '', updatedAt: '' };
const events: readonly NewEvent[] = [
  { type: 'User.Grant.Created', data: { userId, grantId, applicationId, scopes: [] } },
  { type: 'User.Session.Ended', data: { userId, sessionId, reason: 'ENDED' } },
  { type: 'User.Session.Ended', data: { userId: stranger, sessionId: null, reason: 'ENDED' } },
  {
    type: 'Organization.MemberRoles.Updated',
    data: {
      organizationId,
      userId,
      applicationId: null,
      addedOrganizationRoleIds: [newId('OrganizationRole'), organizationRoleId],
      removedOrganizationRoleIds: [],
    },
  },
  {
    type: 'Scope.Created',
    data: { id: scopeId, resourceId, name: userId, description: applicationId, ...written },
  },
];
const [granted, ended, , given, scope] = events.map(({ type }, index) => `${index} ${type}`);

/** Which of the events these are, in their order. */
const told = (found: readonly { readonly name: string; readonly data: unknown }[]) =>
  found.map(({ name, data }) => {
    const index = events.findIndex(
      (event) =>
        event.type === name && JSON.stringify(event.data) === JSON.stringify(ordered(event, data)),
    );
    return `${index} ${name}`;
  });
// The database orders the members of an object in its own way.
const ordered = (event: NewEvent, data: unknown) =>
  Object.fromEntries(
    Object.keys(event.data).map((name) => [name, (data as Record<string, unknown>)[name]]),
  );

const document = `
  subscription ($after: String, $subjectId: ID) {
    events(after: $after, subjectId: $subjectId) { id cursor name data }
  }`;
const after = await logEnd(endpoint, database);

const cases: readonly [string, string, readonly (string | undefined)[]][] = [
  ['a user', userId, [granted, ended, given]],
  ['an application', applicationId, [granted]],
  ['a grant', grantId, [granted]],
  ['a session', sessionId, [ended]],
  ['an organization', organizationId, [given]],
  ['the record itself', scopeId, [scope]],
  ['one in a list', organizationRoleId, [given]],
  ['what the record belongs to', resourceId, [scope]],
];
await raise(services, events);
await settled(database);

test.each(cases)('finds events by the id of %s', async (_kind, subjectId, expected) => {
  const query = `query ($subjectId: ID, $after: String) {
    events(subjectId: $subjectId, after: $after) { totalCount edges { node { name data } } } }`;
  const { data } = await send<
    { events: { totalCount: number; edges: { node: { name: string; data: object } }[] } },
    object
  >(endpoint, query, { subjectId, after });
  expect(told(data?.events.edges.map(({ node }) => node) ?? [])).toEqual(expected);
  expect(data?.events.totalCount).toBe(expected.length);

  const get = async (accept: string) =>
    fetch(`${other.url}/api/events?subjectId=${subjectId}`, {
      headers: { authorization: `Bearer ${endpoint.token}`, accept },
    });
  const { events: listed } = (await (await get('application/json')).json()) as {
    events: { name: string; data: object }[];
  };
  expect(told(listed)).toEqual(expected);
  const lines = (await (await get('application/x-ndjson')).text()).trimEnd().split('\n');
  expect(told(lines.map((line) => JSON.parse(line) as { name: string; data: object }))).toEqual(
    expected,
  );
});

test('takes the other filters with it', async () => {
  const count = (filter: object) => countEvents(database.prisma, { subjectId: userId, ...filter });
  expect(await count({ types: ['User.Session.Ended'] })).toBe(1);
  expect(await count({ types: ['Role.Created'] })).toBe(0);
  expect(await count({ actorId: stranger })).toBe(0);
  expect(await count({ since: new Date(services.clock.now().getTime() + 3_600_000) })).toBe(0);
});

test('events that name no other record are not in the index of ids', async () => {
  const rows = await database.prisma.$queryRaw<{ type: string; count: number }[]>`
    SELECT "type", max(cardinality("otherIds")) AS "count" FROM "Event"
     WHERE "subjectId" = ANY(${[stranger, scopeId, userId]}) GROUP BY "type" ORDER BY "type"`;
  const counts = Object.fromEntries(rows.map(({ type, count }) => [type, count]));
  expect(counts).toMatchObject({ 'Scope.Created': 1, 'User.Grant.Created': 2 });
  const [plan] = await database.prisma.$queryRaw<{ none: boolean }[]>`
    SELECT "otherIds" IS NULL AS "none" FROM "Event" WHERE "subjectId" = ${stranger}`;
  expect(plan?.none).toBe(true);
});

test.each(cases)(
  'follows events by the id of %s, from a cursor and live',
  async (_kind, subjectId, expected) => {
    const from = await logEnd(endpoint, database);
    const live = subscribe(connect(endpoint), { after: from, subjectId } as never, document);
    await raise(services, events);
    expect(told(await live.received(expected.length))).toEqual(expected);
    const late = subscribe(connect(endpoint), { after: from, subjectId } as never, document);
    expect(told(await late.received(expected.length))).toEqual(expected);
  },
);
