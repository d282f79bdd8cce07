import { useMessages } from '../language/language.ts';
import { stateMessages } from './messages.ts';
import styles from './state.module.css';

/** Placeholder lines. They appear after a delay, because most answers come sooner. */
export function Loading({ lines = 6 }: { lines?: number }) {
  const t = useMessages(stateMessages);
  return (
    <div className={styles.loading} role="status">
      <span className="visually-hidden">{t.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is nothing but its place.
        <span key={line} className={styles.line} aria-hidden="true" />
      ))}
    </div>
  );
}
