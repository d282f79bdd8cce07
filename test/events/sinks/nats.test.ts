import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { raise, settled, userEvent } from '../../support/log.ts';
import { createNatsServer, natsMissing } from '../../support/peers/nats.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

describe.skipIf(natsMissing)(
  `NATS JetStream (${natsMissing ?? 'on a server of its own'})`,
  async () => {
    if (natsMissing) return;
    const nats = await createNatsServer();
    afterAll(() => nats.close());
    await nats.start();
    const service = await startService({ EVENT_SINK_URL: nats.url });
    const { services } = service.app;

    interface Received {
      readonly subject: string;
      readonly messageId: string;
      readonly body: {
        readonly id: string;
        readonly type: string;
        readonly data: { readonly name: string };
      };
    }

    /** Everything in the stream, oldest first. */
    async function stored(): Promise<Received[]> {
      const connection = await connect({ servers: nats.url });
      try {
        const manager = await jetstreamManager(connection);
        const { state } = await manager.streams.info('SIGNET_EVENTS');
        if (state.messages === 0) return [];
        const consumer = await jetstream(connection).consumers.get('SIGNET_EVENTS');
        const messages = await consumer.fetch({ max_messages: state.messages, expires: 5_000 });
        const received: Received[] = [];
        for await (const message of messages) {
          received.push({
            subject: message.subject,
            messageId: message.headers?.get('Nats-Msg-Id') ?? '',
            body: message.json(),
          });
          if (received.length === state.messages) break;
        }
        return received;
      } finally {
        await connection.close();
      }
    }

    const waitForCount = (count: number) =>
      eventually(async () => {
        const all = await stored();
        expect(all).toHaveLength(count);
        return all;
      });

    const expectedNames: string[] = [];
    const raiseNamed = async (count: number, label: string) => {
      for (let i = 0; i < count; i += 1) {
        expectedNames.push(`${label} ${i}`);
        await raise(services, [userEvent(`${label} ${i}`)]);
      }
    };
    const namesOf = (received: readonly Received[]) => received.map(({ body }) => body.data.name);

    /** Starts the service anew on the same database, until the test ends. */
    const startAgain = async (environment: Record<string, string>) => {
      const app = await startApp({
        config: readConfig({ PORT: '0', ...environment }),
        log: services.log,
        clock: service.clock,
        opened: { database: services.database, secret: 'a secret for tests only' },
      });
      onTestFinished(() => app.stop());
    };

    test('gets each event once, in order, with type and id', async () => {
      await raiseNamed(20, 'first');
      const received = await waitForCount(20);
      expect(namesOf(received)).toEqual(expectedNames);
      for (const { subject, messageId, body } of received) {
        expect(subject).toBe('signet.events.User.Created');
        expect(messageId).toBe(body.id);
        expect(Object.keys(body)).toEqual(['id', 'type', 'timestamp', 'actor', 'data']);
      }
    });

    test('continues after NATS was killed and restarted', async () => {
      await nats.kill();
      await raiseNamed(10, 'while it was down');
      await nats.start();
      await raiseNamed(5, 'afterwards');
      expect(namesOf(await waitForCount(expectedNames.length))).toEqual(expectedNames);
    });

    test('continues after the service was stopped and restarted', async () => {
      await service.app.stop();
      await raiseNamed(10, 'while it was stopped');
      await startAgain({ EVENT_SINK_URL: nats.url });
      await raiseNamed(5, 'after the restart');
      expect(namesOf(await waitForCount(expectedNames.length))).toEqual(expectedNames);
    });

    test('publishes once what a dead process had not recorded', async () => {
      const { prisma } = services.database;
      await settled(services.database);
      await prisma.$executeRaw`
      UPDATE "EventConsumer" SET ("xid", "position") = (
        SELECT "xid", "position" FROM "Event" ORDER BY "xid", "position" LIMIT 1)
       WHERE "name" = 'sink'`;
      await startAgain({ EVENT_SINK_URL: nats.url });
      await raiseNamed(1, 'after the repetition');
      expect(namesOf(await waitForCount(expectedNames.length))).toEqual(expectedNames);
    });

    test('forgets its position when no sink is configured', async () => {
      await startAgain({});
      expect(await services.database.prisma.eventConsumer.count({ where: { name: 'sink' } })).toBe(
        0,
      );
    });
  },
);
