import {
  type DiscardPolicy,
  jetstream,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { raise, userEvent } from '../../support/log.ts';
import { createNatsServer, natsMissing } from '../../support/peers/nats.ts';
import { startService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const streamName = 'SIGNET_EVENTS';
const refusedText = 'the event sink refuses an event';

/** A service whose sink meets a stream that was made beforehand. */
async function startAt(config: Partial<StreamConfig>) {
  const nats = await createNatsServer();
  onTestFinished(() => nats.close());
  await nats.start();
  const connection = await connect({ servers: nats.url });
  onTestFinished(() => connection.close());
  const { streams } = await jetstreamManager(connection);
  await streams.add({ name: streamName, subjects: ['signet.events.>'], ...config });
  const service = await startService({ EVENT_SINK_URL: nats.url });
  const stored = async (): Promise<string[]> => {
    const { state } = await streams.info(streamName);
    const names: string[] = [];
    const consumer = await jetstream(connection).consumers.get(streamName);
    while (names.length < state.messages) {
      const message = await consumer.next({ expires: 5_000 });
      if (!message) break;
      names.push(message.json<{ data: { name: string } }>().data.name);
    }
    return names;
  };
  return { service, streams, stored };
}

const raiseNamed = async ({ app }: TestService, ...names: string[]) => {
  for (const name of names) await raise(app.services, [userEvent(name)]);
};

const large = 'x'.repeat(3_000);

const entries = ({ logged }: TestService, text: string) => logged.filter(({ msg }) => msg === text);

const metric = async (service: TestService, line: string): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return Number(found?.split(' ').at(-1) ?? 0);
};

describe.skipIf(natsMissing)(
  `a stream that refuses (${natsMissing ?? 'on a server of its own'})`,
  () => {
    test('an event that stays too large is put aside, and later ones go on', async () => {
      const { service, stored } = await startAt({ max_msg_size: 2_000 });
      await raiseNamed(service, 'before', large, 'after', `${large}y`, 'last');
      const [refusal] = await eventually(() => {
        const found = entries(service, refusedText);
        expect(found).not.toEqual([]);
        return found;
      });
      expect(refusal).toMatchObject({
        level: 40,
        reason: 'too_large',
        subject: 'signet.events.User.Created',
        eventType: 'User.Created',
        err: { message: expect.stringMatching(/^message size exceeds maximum allowed/) },
      });
      expect(Number(refusal?.['bytes'])).toBeGreaterThan(3_000);
      expect(await stored()).toEqual(['before']);

      service.clock.advance(61_000);
      await eventually(async () => expect(await stored()).toEqual(['before', 'after', 'last']));
      const aside = service.logged.filter(({ msg }) => String(msg).includes('put aside'));
      // The second was not waited for: one as large had been put aside.
      expect(aside).toHaveLength(2);
      const { event } = service.app.services.database.prisma;
      for (const { level, eventId } of aside) {
        expect(level).toBe(50);
        expect(await event.count({ where: { id: String(eventId) } })).toBe(1);
      }
      expect(await metric(service, 'signet_sink_put_aside_total')).toBe(2);
    });

    test('an event that was too large is taken once the limit is raised', async () => {
      const { service, streams, stored } = await startAt({ max_msg_size: 2_000 });
      await raiseNamed(service, large, 'after');
      await eventually(async () =>
        expect(
          await metric(service, 'signet_sink_refusals_total{reason="too_large"}'),
        ).toBeGreaterThan(0),
      );
      await streams.update(streamName, { max_msg_size: 100_000 });
      await eventually(async () => expect(await stored()).toEqual([large, 'after']));
      expect(await metric(service, 'signet_sink_put_aside_total')).toBe(0);
    });

    test('what a full stream refuses waits, however long', async () => {
      const { service, streams, stored } = await startAt({
        max_msgs: 2,
        discard: 'new' satisfies `${DiscardPolicy}` as DiscardPolicy,
      });
      await raiseNamed(service, 'one', 'two', 'three', 'four');
      await eventually(() =>
        expect(entries(service, refusedText)).toMatchObject([{ reason: 'full' }]),
      );
      service.clock.advance(61_000);
      // A refusal that lasts is told once a minute.
      await eventually(() => expect(entries(service, refusedText)).toHaveLength(2));
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
      await streams.update(streamName, { max_msgs: 10 });
      await eventually(async () => expect(await stored()).toEqual(['one', 'two', 'three', 'four']));
      expect(await metric(service, 'signet_sink_put_aside_total')).toBe(0);
    });

    test('the minute of an event that is too large begins when it is refused for that', async () => {
      const { service, streams, stored } = await startAt({
        max_msgs: 1,
        discard: 'new' satisfies `${DiscardPolicy}` as DiscardPolicy,
      });
      await raiseNamed(service, 'before', large, 'after');
      await eventually(() =>
        expect(entries(service, refusedText)).toMatchObject([{ reason: 'full' }]),
      );
      service.clock.advance(61_000);
      await streams.update(streamName, { max_msgs: 10, max_msg_size: 2_000 });
      const tooLarge = 'signet_sink_refusals_total{reason="too_large"}';
      await eventually(async () => expect(await metric(service, tooLarge)).toBeGreaterThan(1));
      expect(await metric(service, 'signet_sink_put_aside_total')).toBe(0);
      service.clock.advance(61_000);
      await eventually(async () => expect(await stored()).toEqual(['before', 'after']));
      expect(await metric(service, 'signet_sink_put_aside_total')).toBe(1);
    });

    test('a stream with other subjects is named as the cause', async () => {
      const { service, streams, stored } = await startAt({ subjects: ['orders.>'] });
      await raiseNamed(service, 'one', 'two');
      await eventually(() =>
        expect(entries(service, refusedText)).toMatchObject([
          {
            reason: 'no_stream',
            err: {
              message: expect.stringMatching(
                /^No stream takes signet\.events\.User\.Created: SIGNET_EVENTS takes orders\.>\./,
              ),
            },
          },
        ]),
      );
      await streams.update(streamName, { subjects: ['orders.>', 'signet.events.>'] });
      await eventually(async () => expect(await stored()).toEqual(['one', 'two']));
    });

    test('a stream that is deleted is made anew', async () => {
      const { service, streams, stored } = await startAt({});
      await raiseNamed(service, 'one');
      await eventually(async () => expect(await stored()).toEqual(['one']));
      await streams.delete(streamName);
      await raiseNamed(service, 'two');
      await eventually(async () => expect(await stored()).toEqual(['two']));
    });
  },
);
