import { useBlocker } from '@tanstack/react-router';
import { createContext, type RefObject, useContext, useEffect, useRef } from 'react';
import { createStore } from '../store.ts';
import { LeaveDialog } from './leave.tsx';

/** How many forms on the screen have unsaved changes. */
export const unsavedForms = createStore(0);

/** Whether the dialog around a form has unsaved changes; it asks before it closes. */
export const HeldChanges = createContext<RefObject<boolean> | undefined>(undefined);

/**
 * Warns before unsaved changes are lost by a link, Back, a reload or closing the dialog.
 *
 * @returns The warning's dialog, and a function that allows leaving once the changes are saved.
 */
export function useUnsaved(isDirty: boolean): {
  readonly guard: React.ReactNode;
  allowLeaving(): void;
} {
  const held = useRef(isDirty);
  const dialog = useContext(HeldChanges);
  useEffect(() => {
    held.current = isDirty;
    if (dialog) dialog.current = isDirty;
    return () => {
      if (dialog) dialog.current = false;
    };
  }, [isDirty, dialog]);
  useEffect(() => {
    if (!isDirty) return undefined;
    unsavedForms.set(unsavedForms.get() + 1);
    return () => unsavedForms.set(unsavedForms.get() - 1);
  }, [isDirty]);
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
    allowLeaving() {
      held.current = false;
      if (dialog) dialog.current = false;
    },
  };
}
