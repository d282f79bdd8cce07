import { useEffect, useRef } from 'react';
import { useCan } from '../session/session.ts';
import { followEvents } from './feed.ts';

const gatherMs = 100;

/** Asks again for a record whenever an event about it is in the log, whoever changed it. */
export function useLiveRecord(id: string, askAgain: () => void): void {
  const seesEvents = useCan('events:read');
  const ask = useRef(askAgain);
  ask.current = askAgain;
  useEffect(() => {
    if (!seesEvents) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unfollow = followEvents(
      { subjectId: id },
      {
        onEvent() {
          // Changes come in bunches; one answer shows them all.
          timer ??= setTimeout(() => {
            timer = undefined;
            ask.current();
          }, gatherMs);
        },
      },
    );
    return () => {
      clearTimeout(timer);
      unfollow();
    };
  }, [id, seesEvents]);
}
