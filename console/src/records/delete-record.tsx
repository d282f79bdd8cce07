import type { TypedDocumentNode } from '@urql/core';
import { type ReactNode, useState } from 'react';
import * as z from 'zod/mini';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { dialogMessages } from '../dialogs/messages.ts';
import { ActionForm } from '../forms/action-form.tsx';
import { TextField } from '../forms/fields.tsx';
import { useMessages } from '../language/language.ts';
import styles from './delete-record.module.css';

/** A button `Delete` that asks for the record's name, and says what goes with it. */
export function DeleteRecord<Data extends object, Input extends object>({
  name,
  goesToo,
  document,
  input,
  onDone,
}: {
  name: string;
  goesToo: readonly ReactNode[];
  document: TypedDocumentNode<Data, { input: Input }>;
  input: Input;
  onDone: () => void;
}) {
  const t = useMessages(dialogMessages);
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <Button icon="trash" onClick={() => setIsOpen(true)}>
        {t.delete}
      </Button>
      <Dialog title={t.deleteThing(name)} isOpen={isOpen} onClose={close} size="small" isUrgent>
        {goesToo.length > 0 && (
          <div className={styles.goesToo}>
            <p>{t.goesToo}</p>
            <ul>
              {goesToo.map((thing, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change.
                <li key={index}>{thing}</li>
              ))}
            </ul>
          </div>
        )}
        <ActionForm
          document={document}
          schema={z.object({
            confirmation: z.string().check(z.refine((typed) => typed === name, t.nameDiffers)),
          })}
          values={{ confirmation: '' }}
          toInput={() => input}
          onDone={onDone}
          submit={t.delete}
          kind="danger"
          onCancel={close}
          cancel={t.cancel}
        >
          <TextField name="confirmation" label={t.typeToConfirm(name)} hasFocus />
        </ActionForm>
      </Dialog>
    </>
  );
}
