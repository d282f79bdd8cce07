import { type ReactNode, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { Dialog, DialogFooter } from './dialog.tsx';

/** What the form of a new record in a {@link CreationDialog} calls. */
export interface CreationFormProps<Created> {
  readonly onCancel: () => void;
  readonly onDone: (created: Created) => void;
}

/** A dialog with the form of a new record, which then shows the record's secret once. */
export function CreationDialog<Created extends { readonly id: string }>({
  texts,
  isOpen,
  onClose,
  form,
  shownOnce,
  onOpenRecord,
}: {
  texts: { readonly create: string; readonly created: string; readonly openIt: string };
  isOpen: boolean;
  onClose: () => void;
  form: (actions: CreationFormProps<Created>) => ReactNode;
  shownOnce: (created: Created) => ReactNode;
  onOpenRecord: (id: string) => void;
}) {
  const [created, setCreated] = useState<Created>();
  const close = () => {
    setCreated(undefined);
    if (created) onOpenRecord(created.id);
    else onClose();
  };
  return (
    <Dialog
      title={created ? texts.created : texts.create}
      isOpen={isOpen}
      onClose={close}
      size="wide"
      isUrgent={created !== undefined}
    >
      {created ? (
        <>
          {shownOnce(created)}
          <DialogFooter>
            <Button kind="primary" onClick={close}>
              {texts.openIt}
            </Button>
          </DialogFooter>
        </>
      ) : (
        form({ onCancel: close, onDone: setCreated })
      )}
    </Dialog>
  );
}
