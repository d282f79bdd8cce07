import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useState } from 'react';
import { refresh } from '../kit/api/refresh.ts';
import { Button } from '../kit/controls/button.tsx';
import dialogStyles from '../kit/dialogs/dialog.module.css';
import { unsavedForms } from '../kit/dialogs/unsaved.tsx';
import { useMessages } from '../kit/language/language.ts';
import { hasEnded, resume, signInAddress } from '../kit/session/ended.ts';
import { useSession } from '../kit/session/session.ts';
import { useStore } from '../kit/store.ts';
import { shellMessages } from './messages.ts';
import styles from './shell.module.css';

/** Offers to sign in once the session has ended. It cannot be closed. What is typed in a form is kept. */
export function SessionEnded() {
  const t = useMessages(shellMessages);
  const isOver = useStore(hasEnded);
  const keeps = useStore(unsavedForms) > 0;
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
              {keeps ? t.endedUnsavedText : t.endedText}
            </Dialog.Description>
            <div className={dialogStyles.body}>
              {keeps ? (
                <GoOn />
              ) : (
                <div className={dialogStyles.end}>
                  <a className={styles.signIn} href={isOver ? signInAddress() : undefined}>
                    {t.signInAgain}
                  </a>
                </div>
              )}
            </div>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Goes on here after a sign-in in another tab: as the person comes back, or by a button. */
function GoOn() {
  const t = useMessages(shellMessages);
  const { user } = useSession();
  const [isRefused, setIsRefused] = useState(false);
  useEffect(() => {
    const onFocus = () => void goOn(user.id);
    addEventListener('focus', onFocus);
    return () => removeEventListener('focus', onFocus);
  }, [user.id]);
  return (
    <>
      {isRefused && <p role="alert">{t.notYet}</p>}
      <div className={dialogStyles.end}>
        <Button onClick={async () => setIsRefused(!(await goOn(user.id)))}>{t.goOn}</Button>
        <a className={styles.signIn} href={signInAddress()} target="_blank" rel="noopener">
          {t.signInInTab}
        </a>
      </div>
    </>
  );
}

async function goOn(userId: string): Promise<boolean> {
  const goesOn = await resume(userId);
  if (goesOn) refresh();
  return goesOn;
}
