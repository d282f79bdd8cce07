import { useBlocker } from '@tanstack/react-router';
import { createContext, type RefObject, useContext, useEffect, useRef } from 'react';
import { LeaveDialog } from '../dialogs/leave.tsx';

/** Whether a dialog holds changes that its end would lose; the dialog asks. */
export const HeldChanges = createContext<RefObject<boolean> | undefined>(undefined);

/**
 * Warns before changes are left: by a link, by Back, by a reload, or by closing the dialog around them.
 *
 * @returns What lets the next step go: for when the changes are saved.
 */
export function useUnsaved(isDirty: boolean): { readonly guard: React.ReactNode; letGo(): void } {
  const held = useRef(isDirty);
  const dialog = useContext(HeldChanges);
  useEffect(() => {
    held.current = isDirty;
    if (dialog) dialog.current = isDirty;
    return () => {
      if (dialog) dialog.current = false;
    };
  }, [isDirty, dialog]);
  const blocker = useBlocker({
    shouldBlockFn: () => held.current,
    enableBeforeUnload: () => held.current,
    withResolver: true,
  });
  return {
    guard: (
      <LeaveDialog
        isOpen={blocker.status === 'blocked'}
        onStay={() => blocker.reset?.()}
        onLeave={() => blocker.proceed?.()}
      />
    ),
    letGo() {
      held.current = false;
      if (dialog) dialog.current = false;
    },
  };
}
