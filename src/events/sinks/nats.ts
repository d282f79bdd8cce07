import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { connect, nanos } from '@nats-io/transport-node';
import { messageOf } from '../message.ts';
import type { Sink } from './sink.ts';

const streamName = 'SIGNET_EVENTS';
const subjectPrefix = 'signet.events';
/** How long JetStream remembers message ids. Longer than a node takes to restart. */
const duplicateWindowMs = 60 * 60 * 1_000;
const timeoutMs = 5_000;
const notFound = 10_059;

/**
 * Connects to NATS JetStream and creates the stream if it is missing. Each event is published to `signet.events.<type>`
 * with its id as `Nats-Msg-Id`.
 *
 * @param url `nats://` or `tls://`, with a user and password or a token if the server requires them.
 */
export async function connectNats(url: string): Promise<Sink> {
  const { protocol, host, username, password } = new URL(url);
  const connection = await connect({
    servers: host,
    name: 'signet',
    timeout: timeoutMs,
    maxReconnectAttempts: -1,
    ...(protocol === 'tls:' ? { tls: {} } : {}),
    ...(password
      ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
      : username
        ? { token: decodeURIComponent(username) }
        : {}),
  });
  try {
    const manager = await jetstreamManager(connection, { timeout: timeoutMs });
    try {
      await manager.streams.info(streamName);
    } catch (error) {
      if ((error as { code?: unknown }).code !== notFound) throw error;
      await manager.streams.add({
        name: streamName,
        subjects: [`${subjectPrefix}.>`],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        duplicate_window: nanos(duplicateWindowMs),
      });
    }
  } catch (error) {
    await connection.close();
    throw error;
  }
  const stream = jetstream(connection, { timeout: timeoutMs });
  return {
    async publish(event) {
      await stream.publish(`${subjectPrefix}.${event.type}`, messageOf(event), {
        msgID: event.id,
        timeout: timeoutMs,
      });
    },
    close: () => connection.close(),
  };
}
