import { useEffect, useRef } from 'react';
import { hasEnded } from '../kit/session/ended.ts';
import { useCan } from '../kit/session/session.ts';
import { useStore } from '../kit/store.ts';
import { followEvents } from './feed.ts';
import { subjectOf } from './subject.ts';

const gatherMs = 100;

/** Reloads a record whenever the log has an event about it, whoever changed it. */
export function useLiveRecord(id: string, refetch: () => void): void {
  const canReadEvents = useCan('events:read');
  const isOver = useStore(hasEnded);
  const ask = useRef(refetch);
  ask.current = refetch;
  useEffect(() => {
    if (!canReadEvents || isOver) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unfollow = followEvents(
      { subjectId: id },
      {
        onEvent(event) {
          // An event that only names the record changes nothing of it: a sign-in to an application.
          const subject = subjectOf(event).id;
          if (subject !== undefined && subject !== id) return;
          // Changes come in bursts; one reload shows them all.
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
  }, [id, canReadEvents, isOver]);
}
