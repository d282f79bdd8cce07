import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Button } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import styles from './dialog.module.css';
import { dialogMessages } from './messages.ts';

/** Asks whether unsaved changes may be lost. */
export function LeaveDialog({
  isOpen,
  onStay,
  onLeave,
}: {
  isOpen: boolean;
  onStay: () => void;
  onLeave: () => void;
}) {
  const t = useMessages(dialogMessages);
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onStay()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.veil} />
        <AlertDialog.Viewport className={styles.viewport}>
          <AlertDialog.Popup className={`${styles.popup} ${styles.small}`}>
            <div className={styles.head}>
              <AlertDialog.Title className={styles.title}>{t.leaveTitle}</AlertDialog.Title>
            </div>
            <AlertDialog.Description className={styles.description}>
              {t.leaveText}
            </AlertDialog.Description>
            <div className={styles.body}>
              <div className={styles.end}>
                <Button onClick={onStay}>{t.stay}</Button>
                <Button kind="danger" onClick={onLeave}>
                  {t.leave}
                </Button>
              </div>
            </div>
          </AlertDialog.Popup>
        </AlertDialog.Viewport>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
