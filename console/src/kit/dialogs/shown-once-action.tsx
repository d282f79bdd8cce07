import { type ReactNode, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import { Dialog, DialogFooter } from './dialog.tsx';
import { dialogMessages } from './messages.ts';

/** A button that opens a form, then shows the secret that it created, once. */
export function ShownOnceAction({
  label,
  form,
  shown,
}: {
  label: string;
  form: (onDone: (secret: string) => void, onCancel: () => void) => ReactNode;
  shown: (secret: string) => ReactNode;
}) {
  const t = useMessages(dialogMessages);
  const [isOpen, setIsOpen] = useState(false);
  const [secret, setSecret] = useState<string>();
  const close = () => {
    setIsOpen(false);
    setSecret(undefined);
  };
  return (
    <>
      <Button size="small" icon="plus" onClick={() => setIsOpen(true)}>
        {label}
      </Button>
      <Dialog title={label} isOpen={isOpen} onClose={close} isUrgent={secret !== undefined}>
        {secret === undefined ? (
          form(setSecret, close)
        ) : (
          <>
            {shown(secret)}
            <DialogFooter>
              <Button kind="primary" onClick={close}>
                {t.done}
              </Button>
            </DialogFooter>
          </>
        )}
      </Dialog>
    </>
  );
}
