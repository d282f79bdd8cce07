import { useMemo } from 'react';
import { useLiveList } from '../kit/lists/live-list.ts';
import type { EventFilter } from './feed.ts';
import { EventLog, type LogState } from './log.ts';

/** The log with a filter, followed while the component is mounted. */
export function useEventLog(filter: EventFilter, keep: number): { log: EventLog; state: LogState } {
  const key = JSON.stringify(filter);
  const log = useMemo(() => new EventLog(JSON.parse(key) as EventFilter, keep), [key, keep]);
  return { log, state: useLiveList(log) };
}
