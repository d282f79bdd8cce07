import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useRef, useState } from 'react';
import { classes } from '../controls/classes.ts';
import { Icon } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import styles from './dialog.module.css';
import { LeaveDialog } from './leave.tsx';
import { dialogMessages } from './messages.ts';
import { HeldChanges } from './unsaved.tsx';

/** A dialog. Escape, the cross and a click outside close it. */
export function Dialog({
  title,
  description,
  isOpen,
  onClose,
  size = 'normal',
  isUrgent = false,
  children,
}: {
  title: string;
  description?: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  size?: 'small' | 'normal' | 'wide';
  /** Announced as an alert, and not closed by a click outside. */
  isUrgent?: boolean;
  children: ReactNode;
}) {
  const t = useMessages(dialogMessages);
  const held = useRef(false);
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Base.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (open) return;
        if (held.current) setIsAsking(true);
        else onClose();
      }}
      disablePointerDismissal={isUrgent}
    >
      <Base.Portal>
        <Base.Backdrop className={styles.veil} />
        <Base.Viewport className={styles.viewport}>
          <Base.Popup
            className={classes(styles.popup, styles[size])}
            role={isUrgent ? 'alertdialog' : 'dialog'}
          >
            <div className={styles.head}>
              <Base.Title className={styles.title}>{title}</Base.Title>
              <Base.Close className={styles.close} aria-label={t.close}>
                <Icon name="close" />
              </Base.Close>
            </div>
            {description && (
              <Base.Description className={styles.description}>{description}</Base.Description>
            )}
            <div className={styles.body}>
              <HeldChanges value={held}>{children}</HeldChanges>
            </div>
            <LeaveDialog
              isOpen={isAsking}
              onStay={() => setIsAsking(false)}
              onLeave={() => {
                setIsAsking(false);
                onClose();
              }}
            />
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

/** The row of buttons at the end of a dialog. */
export const DialogFooter = ({ start, children }: { start?: ReactNode; children: ReactNode }) => (
  <div className={styles.footer}>
    <div className={styles.start}>{start}</div>
    <div className={styles.end}>{children}</div>
  </div>
);
