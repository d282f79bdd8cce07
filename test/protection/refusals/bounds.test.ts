import { beforeEach, expect, test } from 'vitest';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { newId, newTraceId } from '../../../src/ids.ts';
import { maxCounted, maxQueued, RefusalQueue } from '../../../src/protection/refusals/queue.ts';
import type { ReportedRefusal } from '../../../src/protection/refusals/refusal.ts';
import { jobs } from '../../../src/protection/refusals/report-left-out.ts';
import { reportRefusal } from '../../../src/protection/refusals/start.ts';
import type { Services } from '../../../src/services.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { exchange } from '../../support/tokens.ts';
import { eventually } from '../../support/wait.ts';

const service = await startService();
const { services } = service.app;
const { prisma } = services.database;
const directory = seedDirectory(services.database, service.clock);
// A minute ends when a test moves the clock.
service.clock.freeze();

const refusal = (applicationId: string | null, ip: string): ReportedRefusal => ({
  type: 'Token.Refused',
  data: {
    grantType: 'client_credentials',
    applicationId,
    rule: null,
    error: 'invalid_target',
    resource: 'https://api.example.com',
    userId: null,
  },
  call: { ip, userAgent: null, traceId: newTraceId() },
});
const report = (to: Services, times: number, of: (i: number) => ReportedRefusal) => {
  for (let i = 0; i < times; i += 1) reportRefusal(to, of(i));
};
const addressOf = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

interface Shown {
  readonly applicationId: string | null;
  readonly ip: string | null;
  readonly suppressed: number | null;
}
const shown = async () =>
  (
    await prisma.event.findMany({
      where: { type: 'Token.Refused' },
      orderBy: { position: 'asc' },
      select: { data: true },
    })
  ).map(({ data }) => data as unknown as Shown);
const told = async () => (await shown()).filter(({ suppressed }) => suppressed === null);
const sums = async () => (await shown()).filter(({ suppressed }) => suppressed !== null);
const leftOut = async () =>
  (await prisma.refusalCount.aggregate({ _sum: { suppressed: true } }))._sum.suppressed ?? 0;

/** Waits until that many refusals are written, as events or in a count. */
const written = (count: number) =>
  eventually(async () => expect((await told()).length + (await leftOut())).toBe(count));

/** Waits for what is told of shares whose minute has ended. The job comes by itself too, every five seconds. */
const reported = (check: () => Promise<void>) =>
  eventually(async () => {
    for (const { run } of jobs(services)) await quietTransaction(services.database, run);
    await check();
  });

beforeEach(async () => {
  service.clock.advance(3_600_000);
  await prisma.event.deleteMany();
  await prisma.refusalCount.deleteMany();
});

test('100,000 refusals of an application are 60 events, and one about the others', async () => {
  const applicationId = newId('Application');
  report(services, 100_000, (i) => refusal(applicationId, addressOf(i % 1000)));
  await written(100_000);
  expect(await told()).toHaveLength(60);
  expect(await sums()).toEqual([]);

  service.clock.advance(60_000);
  await reported(async () => expect(await sums()).not.toEqual([]));
  expect(await sums()).toEqual([
    {
      grantType: null,
      applicationId,
      rule: null,
      error: null,
      resource: null,
      userId: null,
      ip: null,
      suppressed: 100_000 - 60,
    },
  ]);
  expect(await told()).toHaveLength(60);
});

test('an address has a share too, whatever applications it names', async () => {
  report(services, 100, () => refusal(newId('Application'), '192.0.2.7'));
  report(services, 100, () => refusal(null, '2001:db8::7'));
  // One client has the whole of an IPv6 network.
  report(services, 100, (i) => refusal(null, `2001:db8::${i.toString(16)}`));
  await written(300);
  expect(await told()).toHaveLength(120);
  service.clock.advance(60_000);
  await reported(async () => expect(await sums()).toHaveLength(2));
  expect(new Map((await sums()).map(({ ip, suppressed }) => [ip, suppressed]))).toEqual(
    new Map([
      ['192.0.2.7', 40],
      ['2001:db8::', 140],
    ]),
  );
});

test('whoever names no application cannot fill the log, however many addresses they have', async () => {
  report(services, 100_000, (i) => refusal(null, addressOf(i % 50_000)));
  await written(100_000);
  expect(await told()).toHaveLength(600);
  service.clock.advance(60_000);
  await reported(async () =>
    expect(await sums()).toMatchObject([
      { applicationId: null, ip: null, suppressed: 100_000 - 600 },
    ]),
  );
  // What was counted is forgotten.
  service.clock.advance(60_000);
  await reported(async () => expect(await prisma.refusalCount.count()).toBe(0));
});

test('failed sign-ins have shares of their own', async () => {
  const { call, data } = refusal(newId('Application'), '192.0.2.9');
  const { applicationId } = data;
  const failed: ReportedRefusal = {
    type: 'SignIn.Failed',
    data: {
      ...{ identifierType: 'username', userId: null, userAgent: 'test', applicationId },
      ...{ method: 'PASSWORD', reason: 'CREDENTIAL' },
    },
    call,
  };
  report(services, 100, () => failed);
  report(services, 50, () => refusal(applicationId, call.ip));
  await written(50 + 40);
  expect(await told()).toHaveLength(50);
  const where = { type: 'SignIn.Failed' };
  expect(await prisma.event.count({ where })).toBe(60);
  service.clock.advance(60_000);
  await reported(async () => expect(await prisma.event.count({ where })).toBe(61));
  const last = await prisma.event.findFirst({ where, orderBy: { position: 'desc' } });
  expect(last?.data).toMatchObject({ applicationId, ip: null, suppressed: 40 });
  expect(await sums()).toEqual([]);
});

test('each minute has at most 60 events, wherever it begins', async () => {
  const once = () => report(services, 60, () => refusal(null, '192.0.2.8'));
  service.clock.advance(30_000);
  report(services, 30, () => refusal(null, '192.0.2.8'));
  await written(30);
  service.clock.advance(40_000);
  once();
  await written(90);
  expect(await told()).toHaveLength(60);
  service.clock.advance(20_000);
  once();
  await eventually(async () => expect(await told()).toHaveLength(90));
});

test('nodes share the bound, and a node that stops writes what it has', async () => {
  const second = await startSecondNode(service);
  const applicationId = newId('Application');
  for (let i = 0; i < 50_000; i += 1) {
    report(services, 1, () => refusal(applicationId, '192.0.2.1'));
    report(second.app.services, 1, () => refusal(applicationId, addressOf(i)));
  }
  await second.stop();
  expect((await told()).length + (await leftOut())).toBeGreaterThanOrEqual(50_000);
  await written(100_000);
  expect(await told()).toHaveLength(60);
  service.clock.advance(60_000);
  await eventually(async () =>
    expect(await sums()).toMatchObject([{ applicationId, ip: null, suppressed: 100_000 - 60 }]),
  );
});

test('a few hundred over HTTP are all answered, and 60 are told', async () => {
  const off = await directory.createClient();
  const answers = await Promise.all(
    Array.from({ length: 300 }, () =>
      exchange(service, off, { subject_token: 'x', resource: 'https://api.example.com' }),
    ),
  );
  expect(new Set(answers.map(({ status, body }) => `${status} ${body['error']}`))).toEqual(
    new Set(['400 unauthorized_client']),
  );
  await written(300);
  expect(await told()).toHaveLength(60);
});

test('while the database takes nothing, answers are the same, and refusals wait', async () => {
  const off = await directory.createClient();
  const refused = () =>
    exchange(service, off, { subject_token: 'x', resource: 'https://api.example.com' });
  const usual = await refused();
  await written(1);
  await prisma.$executeRaw`ALTER TABLE "RefusalCount" RENAME TO "Elsewhere"`;
  try {
    expect(await refused()).toMatchObject({ status: usual.status, body: usual.body });
    await eventually(() =>
      expect(service.logged).toContainEqual(
        expect.objectContaining({ msg: 'refusals could not be written; they are kept' }),
      ),
    );
    report(services, 20_000, (i) => refusal(null, addressOf(i)));
  } finally {
    await prisma.$executeRaw`ALTER TABLE "Elsewhere" RENAME TO "RefusalCount"`;
  }
  await written(20_002);
  // What is being written waits beside the queue.
  expect((await told()).length).toBeLessThanOrEqual(2 * maxQueued);
});

test('the memory of a process has a bound, and every refusal is counted', () => {
  const queue = new RefusalQueue();
  const count = maxCounted + maxQueued + 20_000;
  const at = service.clock.now();
  for (let i = 0; i < count; i += 1) queue.add({ ...refusal(`app_${i}`, addressOf(i)), at });
  const waiting = queue.take();
  queue.putBack(waiting);
  for (const { refusals, leftOut: counted } of [waiting, queue.take()]) {
    expect(refusals).toHaveLength(maxQueued);
    // Those that have no count of their own share one.
    expect(counted).toHaveLength(maxCounted + 1);
    expect(counted.reduce((sum, one) => sum + one.count, refusals.length)).toBe(count);
  }
  expect(queue.isEmpty).toBe(true);
});
