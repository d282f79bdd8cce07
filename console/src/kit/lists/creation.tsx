import type { ComponentType, ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import type { IconName } from '../controls/icon.tsx';
import { EmptyState } from '../states/state.tsx';
import { useOpenInAddress } from './open-in-address.ts';

/**
 * What a list needs to create records: the button, the dialog that it opens, and what an empty list shows.
 *
 * @param options.beside A second button.
 */
export function useCreation({
  icon,
  texts,
  isAllowed,
  Dialog,
  beside,
}: {
  icon: IconName;
  texts: { readonly create: string; readonly emptyTitle: string; readonly emptyText: string };
  isAllowed: boolean;
  Dialog: ComponentType<{ isOpen: boolean; onClose: () => void }>;
  beside?: ReactNode;
}) {
  const { isOpen, open, close } = useOpenInAddress('create');
  const action = isAllowed && (
    <>
      {beside}
      <Button kind="primary" icon="plus" onClick={open}>
        {texts.create}
      </Button>
    </>
  );
  return {
    action,
    dialog: isAllowed && <Dialog isOpen={isOpen} onClose={close} />,
    empty: (
      <EmptyState icon={icon} title={texts.emptyTitle} action={action}>
        {texts.emptyText}
      </EmptyState>
    ),
  };
}
