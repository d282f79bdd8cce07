import type { LoggedEvent } from '../log.ts';

/** An outside system that gets every event. */
export interface Sink {
  /**
   * Hands over an event and resolves when the other side has stored it. The same event may come again after a failure;
   * the other side recognises it by its id.
   *
   * @returns The size of the message in bytes.
   * @throws SinkRefusal if the other side answered that it does not take this message. The connection is still good.
   */
  publish(event: LoggedEvent): Promise<number>;
  close(): Promise<void>;
}

/**
 * Why a message is refused: it is too large; what stores it is full; nothing takes its subject; or something else that
 * the text says.
 */
export type RefusalReason = 'too_large' | 'full' | 'no_stream' | 'other';

/** The answer of a sink that does not take a message. */
export class SinkRefusal extends Error {
  override readonly name = 'SinkRefusal';
  readonly reason: RefusalReason;
  readonly subject: string;
  /** The size of the message. */
  readonly bytes: number;

  constructor(
    message: string,
    { reason, subject, bytes }: Pick<SinkRefusal, 'reason' | 'subject' | 'bytes'>,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.reason = reason;
    this.subject = subject;
    this.bytes = bytes;
  }
}
