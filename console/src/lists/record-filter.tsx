import { Popover } from '@base-ui/react/popover';
import { useEffect, useState } from 'react';
import { Icon } from '../controls/icon.tsx';
import { type Pick, SearchPicker } from '../controls/search-picker.tsx';
import { useMessages } from '../language/language.ts';
import styles from './filter.module.css';
import { listMessages } from './messages.ts';

/** Finds the records that a filter may name. */
export interface RecordSearch {
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly Pick[]>;
  /** The name of the record that the address gives by its id. */
  readonly nameOf: (id: string) => Promise<string | undefined>;
}

/** A button that opens a search for the one record that a filter names. */
export function RecordFilter({
  label,
  records: { search, nameOf },
  chosen,
  onChange,
}: {
  label: string;
  records: RecordSearch;
  chosen: string | undefined;
  onChange: (id: string | undefined) => void;
}) {
  const t = useMessages(listMessages);
  const [isOpen, setIsOpen] = useState(false);
  const [known, setKnown] = useState<{ readonly id: string; readonly name: string }>();
  const name = known?.id === chosen ? known?.name : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each record.
  useEffect(() => {
    if (!chosen || name) return;
    nameOf(chosen).then(
      (found) => found && setKnown({ id: chosen, name: found }),
      () => undefined,
    );
  }, [chosen]);
  const choose = (id: string | undefined) => {
    setIsOpen(false);
    onChange(id);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger className={styles.trigger} data-chosen={chosen !== undefined || undefined}>
        {label} {chosen && <span className={styles.chosen}>{name ?? chosen}</span>}
        <Icon name="down" size={12} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start" className={styles.positioner}>
          <Popover.Popup className={styles.finder} aria-label={label}>
            {/* Above what is found, which goes as soon as the field is left. */}
            {chosen && (
              <button type="button" className={styles.clear} onClick={() => choose(undefined)}>
                {t.clear}
              </button>
            )}
            <SearchPicker
              label={label}
              placeholder={t.search}
              search={search}
              onPick={({ key, text }) => {
                setKnown({ id: key, name: text });
                choose(key);
              }}
            />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
