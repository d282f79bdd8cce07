import { useEffect, useRef, useState } from 'react';
import { Icon } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import { listMessages } from './messages.ts';
import styles from './list-page.module.css';

const restMs = 200;

/** A search that is sent once the person rests, or presses Enter. */
export function SearchBox({
  value,
  onSearch,
  label,
}: {
  value: string;
  onSearch: (value: string) => void;
  label?: string;
}) {
  const t = useMessages(listMessages);
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(value);
  useEffect(() => {
    // Changed from elsewhere: by Back, or by a link.
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
    <div className={styles.search} role="search">
      <Icon name="search" size={14} />
      <input
        type="search"
        aria-label={label ?? t.search}
        placeholder={label ?? t.search}
        value={typed}
        data-search=""
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
