import { expect, test } from 'vitest';
import { raise, settled, userEvent } from '../support/log.ts';
import { connect, logEnd, type Subscriber, subscribe } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { services } = service.app;
const { database } = services;
const endpoint = { url: service.url, token: await service.managementToken() };
const document = `
  subscription ($types: [EventType!], $after: String, $subjectId: ID, $actorId: ID) {
    events(types: $types, after: $after, subjectId: $subjectId, actorId: $actorId) { id cursor name data }
  }`;

const byAda = { ...services, actor: { type: 'USER' as const, id: 'user_ada' } };
const about = (id: string, name: string) => {
  const event = userEvent(name);
  return { ...event, data: { ...event.data, id } } as typeof event;
};
const follow = (variables: object): Subscriber =>
  subscribe(connect(endpoint), variables as never, document);
const namesOf = async (subscriber: Subscriber, count: number) =>
  (await subscriber.received(count)).map(({ data }) => data['name']);

test('a subscription delivers only events of its subject or actor', async () => {
  const after = await logEnd(endpoint, database);
  const bySubject = follow({ subjectId: 'user_x', after });
  const byActor = follow({ actorId: 'user_ada', after });
  const byBoth = follow({ subjectId: 'user_x', actorId: 'user_ada', after });
  const all = follow({ after });
  await raise(byAda, [about('user_x', 'x by Ada'), about('user_y', 'y by Ada')]);
  await raise(services, [about('user_x', 'x'), about('user_y', 'y')]);
  await raise(byAda, [about('user_x', 'last of Ada')]);
  await raise(services, [about('user_x', 'last')]);
  expect(await namesOf(all, 6)).toHaveLength(6);
  expect(await namesOf(bySubject, 4)).toEqual(['x by Ada', 'x', 'last of Ada', 'last']);
  expect(await namesOf(byActor, 3)).toEqual(['x by Ada', 'y by Ada', 'last of Ada']);
  expect(await namesOf(byBoth, 2)).toEqual(['x by Ada', 'last of Ada']);

  // What it caught up with and what came live are the same events: so is what it resumes with.
  const resumed = follow({ subjectId: 'user_x', after: bySubject.events[1]?.cursor });
  expect(await namesOf(resumed, 2)).toEqual(['last of Ada', 'last']);
  await raise(services, [about('user_y', 'y again'), about('user_x', 'x again')]);
  expect((await namesOf(resumed, 3)).at(-1)).toBe('x again');
  expect((await namesOf(bySubject, 5)).at(-1)).toBe('x again');
});

test('subscribers who ask for different things share no execution', async () => {
  const x = follow({ subjectId: 'user_x' });
  const y = follow({ subjectId: 'user_y' });
  await settled(database);
  const beginning = await logEnd(endpoint, database);
  await raise(services, [about('user_x', 'to x')]);
  await raise(services, [about('user_y', 'to y')]);
  const from = (subjectId: string) => follow({ subjectId, after: beginning });
  expect(await namesOf(from('user_x'), 1)).toEqual(['to x']);
  expect(await namesOf(from('user_y'), 1)).toEqual(['to y']);
  for (const { events } of [x, y]) {
    expect(new Set(events.map(({ data }) => data['id'])).size).toBeLessThanOrEqual(1);
  }
});
