import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { EventFilter } from './feed.ts';
import { EventLog, type LogState } from './log.ts';

/** The log with a filter, followed for as long as the component is there. */
export function useEventLog(filter: EventFilter, keep: number): { log: EventLog; state: LogState } {
  const key = JSON.stringify(filter);
  const log = useMemo(() => new EventLog(JSON.parse(key) as EventFilter, keep), [key, keep]);
  useEffect(() => {
    void log.start();
    return () => log.stop();
  }, [log]);
  return { log, state: useSyncExternalStore(log.subscribe, log.get) };
}
