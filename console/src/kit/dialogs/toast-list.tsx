import { Toast } from '@base-ui/react/toast';
import { useEffect } from 'react';
import { classes } from '../controls/classes.ts';
import { Icon } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import { useStore } from '../store.ts';
import { waitingToasts } from '../toasts.ts';
import { dialogMessages } from './messages.ts';
import styles from './toast-list.module.css';

/** Shows the toasts. */
export const Toasts = () => (
  <Toast.Provider limit={4}>
    <Toast.Portal>
      <Toast.Viewport className={styles.viewport}>
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
);

// The library marks a toast as a dialog, which must say whether it is modal.
const noWindow = { 'aria-modal': undefined };

// The library hides this from screen readers until it has the focus; Tab reaches it before.
const alwaysTold = { 'aria-hidden': undefined };

function List() {
  const { toasts, add } = Toast.useToastManager();
  const t = useMessages(dialogMessages);
  const waiting = useStore(waitingToasts);
  useEffect(() => {
    if (waiting.length === 0) return;
    // Asked again, because in development effects run twice.
    for (const notice of waitingToasts.get()) add(notice);
    waitingToasts.set([]);
  }, [waiting, add]);
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      role={toast.type === 'failed' ? 'alert' : 'status'}
      {...noWindow}
      className={classes(styles.toast, toast.type === 'failed' && styles.failed)}
    >
      <Toast.Content className={styles.content}>
        <span className={styles.icon}>
          <Icon name={toast.type === 'failed' ? 'warning' : 'check'} />
        </span>
        <div className={styles.words}>
          <Toast.Title className={styles.title} />
          <Toast.Description className={styles.description} />
        </div>
        <Toast.Close className={styles.close} aria-label={t.dismiss} {...alwaysTold}>
          <Icon name="close" size={14} />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
