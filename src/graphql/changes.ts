import { setTimeout as delay } from 'node:timers/promises';
import { Repeater } from '@repeaterjs/repeater';

const pollMs = 500;

/**
 * Yields rows as they change from now on, on any node. Each row has its state at the time of the read, so a slow reader
 * gets the latest state and no backlog.
 *
 * @param readMore Reads the rows that changed since its last call; it may wait for them, until the signal. Undefined:
 * nothing can change any more.
 */
export const changes = <Row>(
  readMore: (signal: AbortSignal) => Promise<readonly Row[] | undefined>,
): AsyncIterableIterator<Row, void, void> =>
  new Repeater<Row, void, void>(async (push, stop) => {
    const ended = new AbortController();
    void stop.then(() => ended.abort());
    while (!ended.signal.aborted) {
      const rows = await readMore(ended.signal);
      if (!rows) break;
      for (const row of rows) await push(row);
      if (rows.length === 0) {
        await delay(pollMs, undefined, { signal: ended.signal }).catch(() => undefined);
      }
    }
    stop();
  });
