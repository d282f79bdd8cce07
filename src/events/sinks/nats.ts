import {
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { connect, nanos, RequestError } from '@nats-io/transport-node';
import { messageOf } from '../message.ts';
import { type RefusalReason, type Sink, SinkRefusal } from './sink.ts';

const streamName = 'SIGNET_EVENTS';
const subjectPrefix = 'signet.events';
/** How long JetStream remembers message ids. Longer than a node takes to restart. */
const duplicateWindowMs = 60 * 60 * 1_000;
const timeoutMs = 5_000;
const notFound = 10_059;
/** What an account's or a server's storage answers that takes no more, and a stream that discards new messages. */
const fullCodes = [10_002, 10_023, 10_028, 10_047, 10_077];
const tooLargeCode = 10_054;
/** More than the headers of a message take, which count towards the server's `max_payload`. */
const headerBytes = 256;

const reasonOf = (code: number): RefusalReason =>
  code === tooLargeCode ? 'too_large' : fullCodes.includes(code) ? 'full' : 'other';

const isNoResponders = (error: unknown) =>
  error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders();

const isMissing = (error: unknown) => error instanceof JetStreamApiError && error.code === notFound;

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
  let manager: JetStreamManager;
  try {
    manager = await jetstreamManager(connection, { timeout: timeoutMs });
    try {
      await manager.streams.info(streamName);
    } catch (error) {
      if (!isMissing(error)) throw error;
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

  /** What a failed attempt says: a refusal if the server answered so, or else the error itself. */
  async function explain(error: unknown, subject: string, bytes: number): Promise<unknown> {
    const refusal = (message: string, reason: RefusalReason) =>
      new SinkRefusal(message, { reason, subject, bytes }, { cause: error });
    if (error instanceof JetStreamApiError) return refusal(error.message, reasonOf(error.code));
    if (isNoResponders(error)) {
      // The library calls it "jetstream is not enabled". If the stream is gone, this throws, and to connect anew makes it.
      const { config } = await manager.streams.info(streamName);
      const taken = config.subjects?.join(', ') || 'no subjects';
      return refusal(`No stream takes ${subject}: ${streamName} takes ${taken}.`, 'no_stream');
    }
    const limit = connection.info?.max_payload;
    return limit && bytes + headerBytes > limit
      ? refusal(`The server takes messages of at most ${limit} bytes.`, 'too_large')
      : error;
  }

  return {
    async publish(event) {
      const subject = `${subjectPrefix}.${event.type}`;
      const message = Buffer.from(messageOf(event));
      try {
        await stream.publish(subject, message, { msgID: event.id, timeout: timeoutMs });
      } catch (error) {
        throw await explain(error, subject, message.byteLength);
      }
      return message.byteLength;
    },
    close: () => connection.close(),
  };
}
