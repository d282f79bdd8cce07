import { setTimeout as delay } from 'node:timers/promises';
import { Repeater } from '@repeaterjs/repeater';

const pollMs = 500;

/**
 * Gives rows as they change from now on, whichever node changes them: each as it is when it is read, so that a reader
 * who is slow gets the last state and no backlog.
 *
 * @param readMore Reads what changed since the last time; undefined where nothing can change any more.
 */
export const changes = <Row>(
  readMore: () => Promise<readonly Row[] | undefined>,
): AsyncIterableIterator<Row, void, void> =>
  new Repeater<Row, void, void>(async (push, stop) => {
    const ended = new AbortController();
    void stop.then(() => ended.abort());
    while (!ended.signal.aborted) {
      const rows = await readMore();
      if (!rows) break;
      for (const row of rows) await push(row);
      if (rows.length === 0) {
        await delay(pollMs, undefined, { signal: ended.signal }).catch(() => undefined);
      }
    }
    stop();
  });
