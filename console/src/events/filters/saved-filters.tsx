import { Popover } from '@base-ui/react/popover';
import { type FormEvent, useState } from 'react';
import type { Address } from '../../kit/address.ts';
import { Button, IconButton } from '../../kit/controls/button.tsx';
import { Icon } from '../../kit/controls/icon.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { useSession } from '../../kit/session/session.ts';
import styles from './filters.module.css';
import { filterMessages } from './messages.ts';

interface SavedFilter {
  readonly name: string;
  readonly address: Address;
}

const keyOf = (userId: string) => `signet.console.event-filters.${userId}`;

function read(userId: string): readonly SavedFilter[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(userId)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isSaved) : [];
  } catch {
    // Somebody else's text under this name is no list of filters.
    return [];
  }
}

const isSaved = (one: unknown): one is SavedFilter => {
  const { name, address } = (one ?? {}) as Partial<SavedFilter>;
  return typeof name === 'string' && typeof address === 'object' && address !== null;
};

/** The filters that the person has saved in this browser, to choose and to save. */
export function SavedFilters({
  current,
  isFiltered,
  onChoose,
}: {
  current: Address;
  isFiltered: boolean;
  onChoose: (address: Address) => void;
}) {
  const t = useMessages(filterMessages);
  const { id } = useSession().user;
  const [isOpen, setIsOpen] = useState(false);
  const [filters, setFilters] = useState(() => read(id));
  const [name, setName] = useState('');
  const keep = (next: readonly SavedFilter[]) => {
    localStorage.setItem(keyOf(id), JSON.stringify(next));
    setFilters(next);
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    const given = name.trim();
    if (!given) return;
    keep([...filters.filter((one) => one.name !== given), { name: given, address: current }]);
    setName('');
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger className={styles.trigger}>
        {t.saved} <Icon name="down" size={12} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start" className={styles.positioner}>
          <Popover.Popup className={styles.popup} aria-label={t.saved}>
            {filters.length === 0 && <p className={styles.none}>{t.none}</p>}
            {filters.length > 0 && (
              <ul className={styles.list}>
                {filters.map((filter) => (
                  <li key={filter.name} className={styles.filter}>
                    <button
                      type="button"
                      className={styles.pick}
                      onClick={() => {
                        setIsOpen(false);
                        onChoose(filter.address);
                      }}
                    >
                      {filter.name}
                    </button>
                    <IconButton
                      icon="close"
                      size="small"
                      label={t.remove(filter.name)}
                      onClick={() => keep(filters.filter((one) => one !== filter))}
                    />
                  </li>
                ))}
              </ul>
            )}
            {isFiltered && (
              <form className={styles.form} onSubmit={save}>
                <input
                  className={styles.field}
                  aria-label={t.name}
                  placeholder={t.name}
                  value={name}
                  maxLength={60}
                  onChange={({ target }) => setName(target.value)}
                />
                <Button type="submit" size="small">
                  {t.save}
                </Button>
              </form>
            )}
            <p className={styles.kept}>{t.kept}</p>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
