import type { TypedDocumentNode } from '@urql/core';
import { type ReactNode, useState } from 'react';
import { type PayloadOfDocument, useAction } from '../api/use-action.ts';
import { Button, IconButton } from '../controls/button.tsx';
import { CopyAs } from '../controls/copy-as.tsx';
import type { IconName } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import { toast } from '../toasts.ts';
import { Dialog, DialogFooter } from './dialog.tsx';
import { Foreseen } from './foreseen.tsx';
import { dialogMessages } from './messages.ts';

/** A button that asks for confirmation before it runs a mutation. */
export function ConfirmAction<Data extends object, Input extends object>({
  label,
  title,
  text,
  document,
  input,
  onDone,
  kind = 'plain',
  size,
  icon,
  isCross = false,
}: {
  label: string;
  title: string;
  text: ReactNode;
  document: TypedDocumentNode<Data, { input: Input }>;
  input: Input;
  onDone?:
    | ((payload: PayloadOfDocument<TypedDocumentNode<Data, { input: Input }>>) => void)
    | undefined;
  /** Of what cannot be undone, the dialog says what it would do. */
  kind?: 'plain' | 'danger';
  size?: 'normal' | 'small';
  icon?: IconName;
  /** Shows a small cross instead of the button. */
  isCross?: boolean;
}) {
  const t = useMessages(dialogMessages);
  const [isOpen, setIsOpen] = useState(false);
  const { run, isRunning } = useAction(document);
  const confirm = async () => {
    const outcome = await run(input);
    if (outcome.kind === 'refused') toast.failed(outcome.refusal.message);
    if (outcome.kind === 'done') {
      setIsOpen(false);
      onDone?.(outcome.payload);
    }
  };
  return (
    <>
      {isCross ? (
        <IconButton icon="close" size="small" label={label} onClick={() => setIsOpen(true)} />
      ) : (
        <Button icon={icon} size={size} onClick={() => setIsOpen(true)}>
          {label}
        </Button>
      )}
      <Dialog
        title={title}
        description={text}
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        size="small"
        isUrgent
      >
        {kind === 'danger' && <Foreseen document={document} input={input} />}
        <DialogFooter start={<CopyAs document={document} input={input} />}>
          <Button onClick={() => setIsOpen(false)}>{t.cancel}</Button>
          <Button
            kind={kind === 'danger' ? 'danger' : 'primary'}
            isBusy={isRunning}
            onClick={confirm}
          >
            {isCross ? t.remove : label}
          </Button>
        </DialogFooter>
      </Dialog>
    </>
  );
}
