import { Popover } from '@base-ui/react/popover';
import { useEffect, useState } from 'react';
import { Icon } from '../controls/icon.tsx';
import { type Pick, SearchPicker } from '../controls/search-picker.tsx';
import { useMessages } from '../language/language.ts';
import styles from './filter.module.css';
import { listMessages } from './messages.ts';

/** The search of a filter by record. */
export interface RecordSearch {
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly Pick[]>;
  /** Finds the name of the record whose id is in the address. */
  readonly nameOf: (id: string) => Promise<string | undefined>;
}

/** The name of the record whose id is in the address, once it is found, and a way to say it before. */
export function useRecordName(
  chosen: string | undefined,
  nameOf: RecordSearch['nameOf'],
): readonly [name: string | undefined, know: (id: string, name: string) => void] {
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
  return [name, (id, found) => setKnown({ id, name: found })];
}

/** A button that opens a search for the record to filter by. */
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
  const [name, know] = useRecordName(chosen, nameOf);
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
            {/* Above the results, which close when the field loses the focus. */}
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
                know(key, text);
                choose(key);
              }}
            />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
