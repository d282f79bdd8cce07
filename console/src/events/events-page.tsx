import { useEffect, useState, useSyncExternalStore } from 'react';
import { send } from '../api/send.ts';
import { Button, IconButton } from '../controls/button.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import type { EventType } from '../generated/graphql.ts';
import { useFormat } from '../language/format.ts';
import { useMessages } from '../language/language.ts';
import { useAddress, valuesOf } from '../lists/address.ts';
import { Filter } from '../lists/filter.tsx';
import { SearchBox } from '../lists/search-box.tsx';
import { Page } from '../records/page.tsx';
import { Loading } from '../states/loading.tsx';
import { EmptyState } from '../states/state.tsx';
import { EventById, type LoggedEvent } from './documents.ts';
import { EventRows } from './event-rows.tsx';
import styles from './events.module.css';
import { Inspector } from './inspector.tsx';
import { eventMessages } from './messages.ts';
import { RatePlot } from './rate-plot.tsx';
import { type EventGroup, eventGroups, typesIn } from './types.ts';
import { useEventLog } from './use-log.ts';

/** So many rows the live list keeps. */
const keep = 1_000;

/** The log, live. */
export function EventsPage() {
  const t = useMessages(eventMessages);
  const format = useFormat();
  const { address, change } = useAddress();
  const types = valuesOf(address, 'types');
  const { subject, actor } = address;
  const { log, state } = useEventLog(
    { types: types as EventType[], subjectId: subject, actorId: actor },
    keep,
  );
  const isFiltered = types.length > 0 || Boolean(subject) || Boolean(actor);
  const event = useSelected(address['event'], state.rows);
  const isWide = useIsWide();
  const inspector = event && (
    <Inspector
      event={event}
      onFilter={(filter) => change({ ...filter, event: isWide ? event.id : undefined })}
    />
  );
  const close = () => change({ event: undefined });
  return (
    <div className={styles.page}>
      <Page
        heading={t.heading}
        lead={t.lead}
        actions={
          <>
            {state.isPaused && (
              <span className={styles.held} role="status">
                {state.held > 0 ? t.waiting(state.held) : t.paused}
              </span>
            )}
            <Button
              icon={state.isPaused ? 'play' : 'pause'}
              kind={state.isPaused ? 'primary' : 'plain'}
              onClick={() => (state.isPaused ? log.resume() : log.pause())}
            >
              {state.isPaused ? t.resume : t.pause}
            </Button>
          </>
        }
      >
        <RatePlot log={log} />
        <div className={styles.tools}>
          <Filter
            label={t.type}
            groups={(Object.keys(eventGroups) as EventGroup[]).map((group) => ({
              label: t.groups[group],
              options: typesIn(group).map(([value, label]) => ({ value, label })),
            }))}
            chosen={types}
            onChange={(chosen) => change({ types: chosen.join(',') })}
          />
          <SearchBox
            label={t.subject}
            placeholder={t.subjectHint}
            value={subject ?? ''}
            onSearch={(value) => change({ subject: value }, { replace: true })}
          />
          <SearchBox
            label={t.actor}
            placeholder={t.actorHint}
            value={actor ?? ''}
            onSearch={(value) => change({ actor: value }, { replace: true })}
          />
          {isFiltered && (
            <Button
              kind="quiet"
              onClick={() => change({ types: undefined, subject: undefined, actor: undefined })}
            >
              {t.clear}
            </Button>
          )}
        </div>
        <div className={styles.panes}>
          <div className={styles.list}>
            {state.phase === 'loading' && state.rows.length === 0 && <Loading lines={10} />}
            {state.phase === 'failed' && state.rows.length === 0 && (
              <div role="alert">
                <EmptyState icon="warning" title={t.failedTitle}>
                  {t.failedText}
                </EmptyState>
              </div>
            )}
            {state.phase === 'ready' && state.rows.length === 0 && (
              <EmptyState icon="events" title={isFiltered ? t.nothingFitsTitle : t.emptyTitle}>
                {isFiltered ? t.nothingFitsText : t.emptyText}
              </EmptyState>
            )}
            {state.rows.length > 0 && (
              <EventRows
                log={log}
                state={state}
                selected={event?.id}
                onSelect={({ id }) => change({ event: id }, { replace: true })}
              />
            )}
          </div>
          {isWide && event && (
            <aside className={styles.aside} aria-label={t.details}>
              <div className={styles.asideHead}>
                <h2 className={styles.asideTitle}>{event.name}</h2>
                <IconButton icon="close" size="small" label={t.close} onClick={close} />
              </div>
              {inspector}
            </aside>
          )}
        </div>
      </Page>
      {!isWide && (
        <Dialog
          title={event?.name ?? ''}
          description={event && format.dateTime(event.occurredAt)}
          isOpen={event !== undefined}
          onClose={close}
          size="wide"
        >
          {inspector}
        </Dialog>
      )}
    </div>
  );
}

/** The event that the address names: one of the rows, or one that a link leads to. */
function useSelected(id: string | undefined, rows: readonly LoggedEvent[]) {
  const [found, setFound] = useState<LoggedEvent>();
  const row = rows.find((event) => event.id === id);
  const isMissing = id !== undefined && !row && found?.id !== id;
  useEffect(() => {
    if (row) setFound(row);
  }, [row]);
  useEffect(() => {
    if (!isMissing || id === undefined) return undefined;
    const ended = new AbortController();
    send(EventById, { id }, ended.signal)
      .then(({ node }) => {
        if (node && 'cursor' in node) setFound(node as LoggedEvent);
      })
      .catch(() => {});
    return () => ended.abort();
  }, [id, isMissing]);
  if (id === undefined) return undefined;
  return row ?? (found?.id === id ? found : undefined);
}

const wide = matchMedia('(min-width: 72rem)');

const useIsWide = () =>
  useSyncExternalStore(
    (listener) => {
      wide.addEventListener('change', listener);
      return () => wide.removeEventListener('change', listener);
    },
    () => wide.matches,
  );
