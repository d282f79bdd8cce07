import { Dialog } from '@base-ui/react/dialog';
import dialogStyles from '../dialogs/dialog.module.css';
import { useMessages } from '../language/language.ts';
import { hasEnded, signInAddress } from '../session/ended.ts';
import { useStore } from '../store.ts';
import { shellMessages } from './messages.ts';
import styles from './shell.module.css';

/** Shows the way to sign in once the session has ended, without being asked. It cannot be closed. */
export function SessionEnded() {
  const t = useMessages(shellMessages);
  const isOver = useStore(hasEnded);
  return (
    <Dialog.Root open={isOver} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className={dialogStyles.veil} />
        <Dialog.Viewport className={dialogStyles.viewport}>
          <Dialog.Popup
            role="alertdialog"
            className={`${dialogStyles.popup} ${dialogStyles.small}`}
          >
            <div className={dialogStyles.head}>
              <Dialog.Title className={dialogStyles.title}>{t.endedTitle}</Dialog.Title>
            </div>
            <Dialog.Description className={dialogStyles.description}>
              {t.endedText}
            </Dialog.Description>
            <div className={dialogStyles.body}>
              <div className={dialogStyles.end}>
                <a className={styles.signIn} href={isOver ? signInAddress() : undefined}>
                  {t.signInAgain}
                </a>
              </div>
            </div>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
