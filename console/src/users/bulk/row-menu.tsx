import { Popover } from '@base-ui/react/popover';
import { useState } from 'react';
import { Button, ButtonLink } from '../../kit/controls/button.tsx';
import { CopyId } from '../../kit/controls/copy.tsx';
import { Icon } from '../../kit/controls/icon.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { aboveRowLink } from '../../kit/lists/data-table.tsx';
import filter from '../../kit/lists/filter.module.css';
import { shownName } from '../../kit/records/shown-name.ts';
import styles from './bulk.module.css';
import type { useBulk } from './bulk.tsx';
import type { ListedUser } from './csv.ts';
import { bulkMessages } from './messages.ts';

/** The actions on one user of the list, behind a button in its row. */
export function RowMenu({
  user,
  ask,
}: {
  user: ListedUser;
  ask: ReturnType<typeof useBulk>['ask'];
}) {
  const t = useMessages(bulkMessages);
  const [isOpen, setIsOpen] = useState(false);
  const name = shownName(user);
  const choices = [user.isSuspended ? 'reactivate' : 'suspend', 'signOut', 'delete'] as const;
  return (
    <span className={aboveRowLink}>
      <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
        <Popover.Trigger className={styles.more} aria-label={t.menu(name)} title={t.menu(name)}>
          <Icon name="more" />
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Positioner sideOffset={4} align="end" className={filter.positioner}>
            <Popover.Popup className={filter.popup} aria-label={t.menu(name)}>
              <div className={styles.items}>
                <ButtonLink kind="quiet" size="small" to="/users/$id" params={{ id: user.id }}>
                  {t.open}
                </ButtonLink>
                {choices.map((action) => (
                  <Button
                    key={action}
                    kind="quiet"
                    size="small"
                    onClick={() => {
                      setIsOpen(false);
                      ask({ action, users: [user] });
                    }}
                  >
                    {t.labels[action]}
                  </Button>
                ))}
                <CopyId id={user.id} />
              </div>
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
    </span>
  );
}
