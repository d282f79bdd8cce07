import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { classes } from '../kit/controls/classes.ts';
import { useMessages } from '../kit/language/language.ts';
import { linkTo } from '../kit/records/links.ts';
import type { LoggedEvent } from './documents.ts';
import styles from './events.module.css';
import { eventMessages } from './messages.ts';
import { useName } from './names.ts';
import { type Change, changesIn, subjectOf, toneOf } from './subject.ts';

/** How many entries are shown; an event can list thousands. */
const listedAtMost = 50;

/** A record's name, as a link if it has a page. */
export function RecordLink({ id, children }: { id: string; children: ReactNode }) {
  const link = linkTo(id);
  if (!link) return <span title={id}>{children}</span>;
  return (
    <Link to={link.to} search={link.search ?? {}} title={id} className={styles.link}>
      {children}
    </Link>
  );
}

/** What an event is about. */
export function EventSubject({ event }: { event: Pick<LoggedEvent, 'type' | 'data'> }) {
  const { id, name } = subjectOf(event);
  const known = useName(name ? undefined : id);
  if (!id) return <span>{name ?? '—'}</span>;
  return <RecordLink id={id}>{name ?? known ?? <Id id={id} />}</RecordLink>;
}

/** The actor of an event. */
export function EventActor({ actor }: Pick<LoggedEvent, 'actor'>) {
  const t = useMessages(eventMessages);
  const id = actor?.id ?? undefined;
  const name = useName(id);
  if (!actor || actor.type === 'SYSTEM') return <span className={styles.muted}>{t.system}</span>;
  if (!id) return <span className={styles.muted}>{t.nobody}</span>;
  return <RecordLink id={id}>{name ?? <Id id={id} />}</RecordLink>;
}

/** An id, shortened to its prefix and its last characters. */
const Id = ({ id }: { id: string }) => (
  <code className={styles.id}>
    {id.slice(0, id.lastIndexOf('_') + 1)}…{id.slice(-6)}
  </code>
);

/** A dot whose color says what the event did. */
export const Tone = ({ event }: { event: LoggedEvent }) => (
  <span className={classes(styles.tone, styles[toneOf(event)])} aria-hidden="true" />
);

/** What an event changed, before and after. */
export function Changes({ event }: { event: LoggedEvent }) {
  const t = useMessages(eventMessages);
  const changes = changesIn(event);
  if (changes.length === 0) return null;
  return (
    <table className={styles.changes}>
      <caption className="visually-hidden">{t.changes}</caption>
      <thead className={changes.every(isListed) ? 'visually-hidden' : undefined}>
        <tr>
          <th scope="col">{t.field}</th>
          <th scope="col">{t.before}</th>
          <th scope="col">{t.after}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <ChangeRow key={change.field} change={change} />
        ))}
      </tbody>
    </table>
  );
}

/** Whether a change is a list of what was added, or of what was removed. */
const isListed = ({ from, to }: Pick<Change, 'from' | 'to'>): boolean =>
  (from === undefined && Array.isArray(to)) || (to === undefined && Array.isArray(from));

function ChangeRow({ change: { field, from, to } }: { change: Change }) {
  const added = from === undefined && Array.isArray(to);
  return (
    <tr>
      <th scope="row">{field}</th>
      {isListed({ from, to }) ? (
        <td colSpan={2}>
          <ul className={styles.listed}>
            {((added ? to : from) as unknown[]).slice(0, listedAtMost).map((entry) => (
              <li key={JSON.stringify(entry)}>
                <span className={classes(styles.sign, added ? styles.to : styles.from)}>
                  {added ? '+' : '−'}
                </span>
                <Entry entry={entry} />
              </li>
            ))}
          </ul>
          <More count={((added ? to : from) as unknown[]).length - listedAtMost} />
        </td>
      ) : (
        <>
          <td>
            <Value value={from} className={styles.from} />
          </td>
          <td>
            <Value value={to} className={styles.to} />
          </td>
        </>
      )}
    </tr>
  );
}

function More({ count }: { count: number }) {
  const t = useMessages(eventMessages);
  return count > 0 && <p className={styles.muted}>{t.more(count)}</p>;
}

/** An added or removed entry: an id, or a record with a name. */
function Entry({ entry }: { entry: unknown }) {
  if (typeof entry === 'string') return <NamedRecord id={entry} />;
  const { name } = (entry ?? {}) as { name?: unknown };
  return <code>{typeof name === 'string' ? name : JSON.stringify(entry)}</code>;
}

/** A record by its id: its name once it is known, as a link. */
export function NamedRecord({ id }: { id: string }) {
  const name = useName(id);
  return <RecordLink id={id}>{name ?? <Id id={id} />}</RecordLink>;
}

function Value({ value, className }: { value: unknown; className: string | undefined }) {
  const t = useMessages(eventMessages);
  if (value === undefined || value === null || value === '')
    return <span className={styles.muted}>{t.nothing}</span>;
  return (
    <code className={className}>
      {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
    </code>
  );
}
