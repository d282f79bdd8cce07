import type { LoggedEvent } from '../log.ts';

/** An outside system that gets every event. */
export interface Sink {
  /**
   * Hands over an event and resolves when the other side has stored it. The same event may come again after a failure;
   * the other side recognises it by its id.
   */
  publish(event: LoggedEvent): Promise<void>;
  close(): Promise<void>;
}
