import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import type { LoggedEvent } from './documents.ts';
import styles from './events.module.css';
import type { EventLog, LogState } from './log.ts';
import { eventMessages } from './messages.ts';
import { EventActor, EventSubject, Tone } from './parts.tsx';

const rowHeight = 36;
/** How many rows before the end the next page is requested. */
const lookAhead = 20;

/** The rows of the log. Only those in view are rendered. */
export function EventRows({
  log,
  state,
  selected,
  onSelect,
}: {
  log: EventLog;
  state: LogState;
  selected: string | undefined;
  onSelect: (event: LoggedEvent) => void;
}) {
  const t = useMessages(eventMessages);
  const { rows, hasOlder } = state;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const shown = virtualizer.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasOlder && rows.length > 0 && lastShown >= rows.length - lookAhead) void log.loadOlder();
  }, [log, hasOlder, lastShown, rows.length]);

  // Keeps the scroll position as rows are added or removed above.
  const before = useRef(rows);
  useLayoutEffect(() => {
    const element = scroller.current;
    const moved = movedBy(before.current, rows);
    before.current = rows;
    if (!element || element.scrollTop === 0) return;
    element.scrollTop = moved === undefined ? 0 : element.scrollTop + moved * rowHeight;
  }, [rows]);

  const move = (by: number) => {
    const index = rows.findIndex(({ id }) => id === selected);
    const next = rows[Math.min(rows.length - 1, Math.max(0, index + by))];
    if (!next) return;
    onSelect(next);
    virtualizer.scrollToIndex(rows.indexOf(next));
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-event="${next.id}"]`)?.focus(),
    );
  };

  return (
    <div role="table" aria-label={t.log} aria-rowcount={-1} className={styles.table}>
      <div role="row" className={styles.tableHead}>
        {[t.time, t.event, t.subject, t.actor].map((header) => (
          <span key={header} role="columnheader">
            {header}
          </span>
        ))}
      </div>
      <div
        ref={scroller}
        className={styles.scroller}
        role="rowgroup"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard.
        tabIndex={0}
        aria-label={t.log}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          if (!(event.target as HTMLElement).closest('[data-event]')) return;
          event.preventDefault();
          move(event.key === 'ArrowDown' ? 1 : -1);
        }}
      >
        <div className={styles.canvas} style={{ height: virtualizer.getTotalSize() }} role="none">
          {shown.map(({ key, index, start }) => {
            const event = rows[index];
            if (!event) return null;
            return (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 1}
                className={styles.row}
                data-selected={event.id === selected || undefined}
                style={{ transform: `translateY(${start}px)` }}
              >
                <span role="cell" className={styles.time}>
                  <Time at={event.occurredAt} as="clock" />
                </span>
                <span role="cell" className={styles.what}>
                  <Tone event={event} />
                  <button
                    type="button"
                    className={styles.pick}
                    data-event={event.id}
                    aria-pressed={event.id === selected}
                    onClick={() => onSelect(event)}
                  >
                    {event.name}
                  </button>
                </span>
                <span role="cell" className={styles.cell}>
                  <EventSubject event={event} />
                </span>
                <span role="cell" className={styles.cell}>
                  <EventActor actor={event.actor} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** How many rows down the earlier rows have moved; undefined if none of them is left. */
function movedBy(before: readonly LoggedEvent[], after: readonly LoggedEvent[]) {
  const added = after.findIndex(({ id }) => id === before[0]?.id);
  if (added >= 0) return added;
  const gone = before.findIndex(({ id }) => id === after[0]?.id);
  return gone >= 0 ? -gone : undefined;
}
