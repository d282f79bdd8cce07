import { useEffect, useId, useRef, useState } from 'react';
import { useMessages } from '../language/language.ts';
import { Icon } from './icon.tsx';
import { useListbox } from './listbox.ts';
import { controlMessages } from './messages.ts';
import styles from './search-picker.module.css';

/** Something that can be picked. */
export interface Pick {
  readonly key: string;
  readonly text: string;
  readonly detail?: string | null;
}

const restMs = 150;

/** A text field that searches, with the results below. Picking one clears it. */
export function SearchPicker<Item extends Pick>({
  label,
  placeholder,
  search,
  onPick,
  isDisabled = false,
  isInvalid,
  describedBy,
}: {
  label: string;
  placeholder?: string;
  /** Finds matching records; an empty text finds the first few. */
  search: (text: string, signal: AbortSignal) => Promise<readonly Item[]>;
  onPick: (item: Item) => void;
  isDisabled?: boolean;
  isInvalid?: boolean;
  /** The ids of its hint and error. */
  describedBy?: string | undefined;
}) {
  const t = useMessages(controlMessages);
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const [found, setFound] = useState<readonly Item[]>();
  const searching = useRef(search);
  searching.current = search;
  useEffect(() => {
    if (!isOpen) return undefined;
    const ended = new AbortController();
    const timer = setTimeout(
      async () => {
        try {
          setFound(await searching.current(typed.trim(), ended.signal));
        } catch {
          if (!ended.signal.aborted) setFound([]);
        }
      },
      typed === '' ? 0 : restMs,
    );
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [typed, isOpen]);
  const items = isOpen ? (found ?? []) : [];
  const listbox = useListbox(items, (item) => {
    setTyped('');
    setFound(undefined);
    setIsOpen(false);
    onPick(item);
    field.current?.focus();
  });
  return (
    <div className={styles.picker}>
      <Icon name="plus" size={14} />
      <input
        {...listbox.input}
        role="combobox"
        ref={field}
        id={id}
        className={styles.input}
        aria-label={label}
        placeholder={placeholder ?? label}
        value={typed}
        disabled={isDisabled}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        aria-expanded={isOpen}
        onFocus={() => setIsOpen(true)}
        onClick={() => setIsOpen(true)}
        onBlur={() => setIsOpen(false)}
        onChange={(event) => {
          setTyped(event.target.value);
          setIsOpen(true);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && isOpen) {
            // Does not close the dialog around it.
            event.stopPropagation();
            setIsOpen(false);
          } else {
            if (event.key === 'ArrowDown') setIsOpen(true);
            listbox.input.onKeyDown(event);
          }
        }}
      />
      <div
        {...listbox.list}
        role="listbox"
        className={styles.list}
        aria-label={label}
        hidden={!isOpen || items.length === 0}
        // Keeps the focus in the field.
        onPointerDown={(event) => event.preventDefault()}
      >
        {items.map((item, index) => (
          <div key={item.key} {...listbox.option(index)} role="option" className={styles.option}>
            <span>{item.text}</span>
            {item.detail && <span className={styles.detail}>{item.detail}</span>}
          </div>
        ))}
      </div>
      {isOpen && items.length === 0 && (
        <div className={styles.list} role="status">
          <p className={styles.nothing}>{found ? t.nothingFound : t.searching}</p>
        </div>
      )}
    </div>
  );
}
