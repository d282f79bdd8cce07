import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Database, openPostgresql } from '../../src/db/database.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { events } from '../support/events.ts';
import { unfair } from '../support/ordeal/deeds.ts';
import {
  goAndReturn,
  isLinked,
  linkTwice,
  openSignedIn,
  shown,
} from '../support/ordeal/federation.ts';
import { stopHalfWay } from '../support/ordeal/half-way.ts';
import { faultsIn } from '../support/ordeal/leftovers.ts';
import { type Life, signIn } from '../support/ordeal/person.ts';
import {
  createWorld,
  lanes,
  liveThrough,
  type Person,
  type World,
} from '../support/ordeal/world.ts';
import {
  createPostgresqlServer,
  type PostgresqlServer,
  type StopMode,
} from '../support/peers/postgresql/server.ts';
import { type Receiver, startReceiver } from '../support/peers/receiver.ts';
import { accountClient } from '../support/people/account.ts';
import type { Visit } from '../support/people/sign-in.ts';
import { password } from '../support/people/sign-in-fixture.ts';
import { eventually } from '../support/wait.ts';
import { createWebhook } from '../support/webhooks.ts';

const nodes = [0, 1];

// The embedded database has no server that could stop: test/db/embedded crashes it.
describe.runIf(inject('postgresql'))('while the database stops and starts', () => {
  let server: PostgresqlServer;
  let world: World;
  let database: Database;
  let receiver: Receiver;
  let earlier: ReadonlySet<string>;
  /** What became of everybody so far. */
  const known: Life[] = [];

  beforeAll(async () => {
    server = await createPostgresqlServer();
    closeAtEnd(() => server.close());
    await server.start();
    world = await createWorld({ DATABASE_URL: server.url }, nodes.length);
    const onError = () => undefined;
    database = openPostgresql({ url: server.url, poolSize: 2, tokenPoolSize: 1, onError });
    closeAtEnd(() => database.close());
    receiver = await startReceiver();
    // Before `earlier`: a webhook is not told of itself.
    await createWebhook(world.admin, { url: receiver.url, events: [] });
    earlier = new Set((await events(world.admin)).map(({ id }) => id));
  });

  const statusesAt = (path: string) =>
    Promise.all(
      nodes.map(async (node) => (await fetch(`${await world.cluster.url(node)}${path}`)).status),
    );

  const stopInFullSwing = () => server.stop('immediate');
  const stopHalfWritten = async (mode: StopMode) => {
    const halfWay = await stopHalfWay(server.url);
    await halfWay.reached(lanes / 2);
    await server.stop(mode);
    await halfWay.release();
  };

  /** Takes the database away, and starts it again once people have felt it. */
  const outage =
    (stop: () => Promise<void>, meanwhile = async () => {}) =>
    async () => {
      const { cluster, deeds } = world;
      await stop();
      await deeds.withoutDatabase(async () => {
        await deeds.moreBroken(lanes);
        await meanwhile();
      });
      await server.start();
      await cluster.settled();
      await eventually(async () => expect(await statusesAt('/readyz')).toEqual([200, 200]));
    };

  /** What is stored against the log of events, and the log against what has come to the webhook. */
  async function findFaults(strangers: readonly string[] = []) {
    const { prisma } = database;
    const faults = await faultsIn(prisma, { lives: known, strangers }, { countsMessages: false });
    const written = await prisma.event.findMany({ orderBy: { position: 'asc' } });
    const due = written.map(({ id }) => id).filter((id) => !earlier.has(id));
    const received = await receiver.until((all) => {
      const come = new Set(all.map(({ json }) => json.id));
      return due.every((id) => come.has(id));
    });
    const bodies = new Map<string, Set<string>>();
    for (const { json, body } of received)
      bodies.set(json.id, (bodies.get(json.id) ?? new Set()).add(body));
    for (const [id, { size }] of bodies)
      if (size > 1) faults.push(`${id} came with ${size} bodies`);
    for (const id of new Set(bodies.keys()).difference(new Set(due)))
      faults.push(`${id} came and is not in the log`);
    return faults;
  }

  test('nothing of an account is half written or lost', async () => {
    const { cluster, deeds } = world;
    const { lives, strangers, isOver } = await liveThrough(world, [
      outage(stopInFullSwing, async () => {
        expect(await statusesAt('/readyz')).toEqual([503, 503]);
        expect(await statusesAt('/healthz')).toEqual([200, 200]);
      }),
      outage(() => stopHalfWritten('fast')),
      outage(
        () => stopHalfWritten('immediate'),
        async () => {
          cluster.kill();
          await cluster.startsFailed(2);
        },
      ),
    ]);
    expect(isOver).toBe(true);
    expect(await server.recoveries()).toBe(2);
    // No node was started again but the one that was killed: the other recovered by itself.
    expect(cluster.kills).toBe(1);
    expect(deeds.decidedWithoutDatabase).toBe(0);
    expect(unfair(deeds.races)).toEqual([]);
    known.push(...lives);
    expect(await findFaults(strangers)).toEqual([]);
  });

  /** How many of two answers each disaster takes, and how it comes and ends. */
  const disasters: Record<string, { lost: number; strike: () => unknown; end?: () => unknown }> = {
    'a node dies': { lost: 1, strike: () => world.cluster.kill(1, 0) },
    'the database crashes': {
      lost: 2,
      strike: () => server.stop('immediate'),
      end: () => server.start(),
    },
  };

  let count = 0;
  /** Somebody in a browser who has begun twice to link an identity, and come back from neither. */
  async function begin(point: string) {
    count += 1;
    const person = world.people.at(-count) as Person;
    const browser = await openSignedIn(world, person.username);
    const me = accountClient(world, await signIn(world, person.username));
    await me.run('verifyViewerPassword', { password });
    const subject = `${point}-${person.username}`;
    const linking = {
      ...{ browser, subject },
      begin: (input: object) => world.deeds.sure(() => me.run('startViewerFederation', input)),
    };
    const callbacks = [await goAndReturn(world, linking), await goAndReturn(world, linking)];
    return { person, subject, linking, callbacks, pages: [] as Visit[] };
  }

  test.each(Object.entries(disasters))(
    'an identity is linked once while %s',
    async (_what, { lost, strike, end }) => {
      const { deeds, provider, cluster } = world;
      const away = await begin('away');
      const asked = await begin('asked');
      const linking = await begin('linking');
      const all = [away, asked, linking];
      const visits = [asked, asked, linking, linking];
      const arrivals = visits.map(() => Promise.withResolvers<void>());
      const [struck, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let arrived = 0;
      provider.behave({
        async answerToken(subject, answer) {
          arrivals[arrived]?.resolve();
          arrived += 1;
          await (subject === asked.subject ? struck : held).promise;
          await answer();
        },
      });
      const open = async ({ linking: { browser }, pages }: typeof away, callback = '') =>
        void pages.push(shown(world, await browser.open(callback)));
      const opened: Promise<object | undefined>[] = [];
      for (const [turn, one] of visits.entries()) {
        opened.push(deeds.send(() => open(one, one.callbacks[turn % 2])));
        // One after the other: so each person is at both nodes.
        await arrivals[turn]?.promise;
      }
      const halfWay = await stopHalfWay(server.url);
      held.resolve();
      await halfWay.reached(1);
      await strike();
      await halfWay.release();
      struck.resolve();
      const [first, second] = await Promise.all(opened);
      expect([first, second].filter((answer) => answer === undefined)).toHaveLength(lost);
      await end?.();
      provider.behave({});

      for (const one of all) {
        const { callbacks, pages, subject } = one;
        // Back again, twice at once, where the answer was lost or never asked for.
        await Promise.all(callbacks.map((callback) => deeds.sure(() => open(one, callback))));
        for (const { body } of pages) expect(body).not.toContain('Nothing was linked');
        const stored = await database.prisma.userIdentity.count({ where: { subject } });
        if (pages.some(isLinked)) expect([subject, stored]).toEqual([subject, 1]);
        else await linkTwice(world, one.linking);
      }
      expect(away.pages.some(isLinked)).toBe(true);
      await cluster.settled();
      for (const { person, subject } of all)
        known.push({
          ...{ userId: person.userId, email: person.email, names: [] },
          ...{ factors: new Map(), sessions: new Map() },
          identities: new Map([[subject, { added: 'DONE' }]]),
        });
      expect(await findFaults()).toEqual([]);
    },
  );
});
