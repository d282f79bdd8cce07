import { Dialog } from '@base-ui/react/dialog';
import { Icon } from '../kit/controls/icon.tsx';
import { Toasts } from '../kit/dialogs/toast-list.tsx';
import { useMessages } from '../kit/language/language.ts';
import { shellMessages } from './messages.ts';
import { SessionEnded } from './session-ended.tsx';
import styles from './shell.module.css';
import { Sidebar } from './sidebar.tsx';

/** What can stand over every page: the menu of narrow screens, toasts, and the end of the session. */
export default function Overlays({
  isMenuOpen,
  onMenuClose,
}: {
  isMenuOpen: boolean;
  onMenuClose: () => void;
}) {
  const t = useMessages(shellMessages);
  return (
    <>
      <Dialog.Root open={isMenuOpen} onOpenChange={(isOpen) => !isOpen && onMenuClose()}>
        <Dialog.Portal>
          <Dialog.Backdrop className={styles.veil} />
          <Dialog.Popup className={styles.drawer} aria-label={t.menu}>
            <Sidebar onNavigate={onMenuClose} />
            <Dialog.Close className={styles.closeDrawer} aria-label={t.closeMenu}>
              <Icon name="close" />
            </Dialog.Close>
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
      <SessionEnded />
      <Toasts />
    </>
  );
}
