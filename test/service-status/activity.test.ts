import { beforeEach, describe, expect, test } from 'vitest';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { exchange, userToken } from '../support/tokens.ts';
import { createUser, createWebhook, webhookUntil } from '../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const other = await startSecondNode(service);
service.clock.freeze();
const { prisma } = service.testDatabase.database;
const directory = seedDirectory(service.testDatabase.database, service.clock);

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

type Range = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';

interface Figures {
  readonly at: string;
  readonly exchanges: number;
  readonly refusedExchanges: number;
  readonly refusalsByRule: readonly { rule: string; count: number }[];
  readonly deliveries: number;
  readonly deliveryP95Ms: number | null;
  readonly signIns: number;
  readonly failedSignIns: number;
  readonly activePeople: number;
}

interface Period {
  readonly from: string;
  readonly until: string;
  readonly total: Figures;
  readonly bars: readonly Figures[];
}

async function activity(range: Range, { url } = service) {
  const figures = `at exchanges refusedExchanges refusalsByRule { rule count } deliveries deliveryP95Ms
    signIns failedSignIns activePeople`;
  const period = `{ from until total { ${figures} } bars { ${figures} } }`;
  const { data, errors } = await send(
    { url, token: await service.managementToken('events:read') },
    `{ statistics { activity(range: ${range}) { barSeconds current ${period} before ${period} } } }`,
  );
  expect(errors).toBeUndefined();
  return (
    data as { statistics: { activity: { barSeconds: number; current: Period; before: Period } } }
  ).statistics.activity;
}

describe('the activity of the service', () => {
  beforeEach(async () => {
    // What the services have counted is written before it is cleared.
    await activity('HOUR');
    await activity('HOUR', other);
    await prisma.minuteCount.deleteMany();
    await prisma.hourCount.deleteMany();
  });

  test.each([
    ['HOUR', 60, 60],
    ['DAY', 48, 1800],
    ['WEEK', 56, 10_800],
    ['MONTH', 60, 43_200],
  ] as const)('%s has %i parts of %i seconds, and as many before', async (range, bars, seconds) => {
    const { barSeconds, current, before } = await activity(range);
    const now = service.clock.now().getTime();
    expect(barSeconds).toBe(seconds);
    for (const period of [current, before]) {
      expect(period.bars).toHaveLength(bars);
      const [from, until] = [Date.parse(period.from), Date.parse(period.until)];
      expect(period.bars.map(({ at }) => Date.parse(at))).toEqual(
        Array.from({ length: bars }, (_, bar) => from + bar * seconds * 1000),
      );
      expect(until - from).toBe(bars * seconds * 1000);
      expect(period.total).toMatchObject({ exchanges: 0, deliveryP95Ms: null, refusalsByRule: [] });
    }
    expect(before.until).toBe(current.from);
    expect(Date.parse(current.until)).toBeGreaterThan(now);
    expect(Date.parse(current.until) - seconds * 1000).toBeLessThanOrEqual(now);
  });

  test('has exchanges, refusals by the rule, and the people, of all nodes and once each', async () => {
    const frontend = await directory.createClient({ type: 'SPA' });
    const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
    const resource = await directory.createResource(['read']);
    const people = await Promise.all([directory.createUser(), directory.createUser()]);
    const asked = { resource: resource.indicator };
    for (const node of [service, other, service])
      for (const { id } of people)
        await exchange({ ...service, url: node.url }, backend, {
          ...asked,
          subject_token: await userToken(service, id, frontend),
        });
    const subject_token = await userToken(service, people[0]?.id ?? '', frontend);
    await exchange(service, backend, { ...asked, subject_token: 'no.token.here' });
    for (const target of ['https://nowhere.example.com', 'https://elsewhere.example.com'])
      await exchange(service, backend, { resource: target, subject_token });
    await activity('HOUR', other);
    for (const range of ['HOUR', 'DAY', 'WEEK', 'MONTH'] as const) {
      const { current } = await activity(range);
      const figures = {
        exchanges: 6,
        refusedExchanges: 3,
        refusalsByRule: [
          { rule: 'RESOURCE', count: 2 },
          { rule: 'SUBJECT_TOKEN', count: 1 },
        ],
        activePeople: 2,
      };
      expect(current.total).toMatchObject(figures);
      expect(current.bars.at(-1)).toMatchObject(figures);
    }
  });

  test('has what was done before the range in the one before', async () => {
    const now = service.clock.now().getTime();
    const hour = (hoursAgo: number) =>
      new Date(Math.floor(now / hourMs) * hourMs - hoursAgo * hourMs);
    await prisma.hourCount.createMany({
      data: [
        { hour: hour(2), name: 'signIns', count: 5 },
        { hour: hour(8 * 24), name: 'signIns', count: 7 },
        { hour: hour(8 * 24), name: 'failedSignIns', count: 1 },
        { hour: hour(40 * 24), name: 'signIns', count: 11 },
        { hour: hour(70 * 24), name: 'signIns', count: 13 },
      ],
    });
    const week = await activity('WEEK');
    expect(week.current.total.signIns).toBe(5);
    expect(week.before.total).toMatchObject({ signIns: 7, failedSignIns: 1 });
    const month = await activity('MONTH');
    expect([month.current.total.signIns, month.before.total.signIns]).toEqual([12, 11]);
  });

  test('says within what time most attempts were answered', async () => {
    const at = new Date(Math.floor(service.clock.now().getTime() / minuteMs) * minuteMs);
    const counts = { '0.05': 90, '0.1': 100, '0.25': 100, '+Inf': 100 };
    await prisma.minuteCount.createMany({
      data: Object.entries(counts).map(([bound, count]) => ({
        minute: at,
        name: `attemptsWithin:${bound}`,
        count,
      })),
    });
    expect((await activity('HOUR')).current.total.deliveryP95Ms).toBe(75);
    // More than the last bound.
    await prisma.minuteCount.create({
      data: { minute: new Date(at.getTime() - minuteMs), name: 'attemptsWithin:+Inf', count: 50 },
    });
    expect((await activity('HOUR')).current.total.deliveryP95Ms).toBe(30_000);
  });

  test('times the attempts to deliver', async () => {
    const admin = { url: service.url, token: await service.managementToken() };
    const receiver = await startReceiver();
    const { id } = await createWebhook(admin, { url: receiver.url });
    await createUser(admin);
    await webhookUntil(admin, id, (webhook) =>
      webhook.deliveries.some(({ status }) => status === 'SUCCEEDED'),
    );
    await activity('HOUR', other);
    const { total } = (await activity('HOUR')).current;
    expect(total.deliveries).toBe(1);
    expect(total.deliveryP95Ms).not.toBeNull();
  });
});
