import type { LoggedEvent } from '../log.ts';

/** A system outside that gets every event. */
export interface Sink {
  /**
   * Hands an event over, and resolves once the other side has it for good. The same event may come again after a
   * failure: the other side tells by its id.
   */
  publish(event: LoggedEvent): Promise<void>;
  close(): Promise<void>;
}
