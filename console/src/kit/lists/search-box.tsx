import { useEffect, useRef, useState } from 'react';
import { Icon } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import styles from './list-page.module.css';
import { listMessages } from './messages.ts';

const restMs = 200;

/** A search field. The search starts after a pause in typing, or with Enter. */
export function SearchBox({
  value,
  onSearch,
  label,
  placeholder,
}: {
  value: string;
  onSearch: (value: string) => void;
  label?: string;
  placeholder?: string;
}) {
  const t = useMessages(listMessages);
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(value);
  useEffect(() => {
    // The address was changed by Back or a link.
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (text: string) => {
    clearTimeout(timer.current);
    sent.current = text.trim();
    onSearch(text.trim());
  };
  return (
    <div
      className={styles.search}
      // `/` focuses the page's one search; a field for an id is not one.
      role={label === undefined ? 'search' : undefined}
    >
      <Icon name="search" size={14} />
      <input
        type="search"
        aria-label={label ?? t.search}
        placeholder={placeholder ?? label ?? t.search}
        value={typed}
        data-search={label === undefined || undefined}
        onChange={(event) => {
          const text = event.target.value;
          setTyped(text);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => send(text), restMs);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send(typed);
        }}
      />
    </div>
  );
}
