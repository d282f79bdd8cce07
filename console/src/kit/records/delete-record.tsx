import { useNavigate } from '@tanstack/react-router';
import type { TypedDocumentNode } from '@urql/core';
import { type ReactNode, useState } from 'react';
import * as z from 'zod/mini';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { Foreseen } from '../dialogs/foreseen.tsx';
import { dialogMessages } from '../dialogs/messages.ts';
import { AnyActionForm } from '../forms/action-form.tsx';
import { TextField } from '../forms/fields.tsx';
import { useMessages } from '../language/language.ts';
import { toast } from '../toasts.ts';
import styles from './delete-record.module.css';
import { isSameName } from './same-name.ts';
import { Section } from './section.tsx';

interface DeleteRecordProps<Data extends object, Input extends object> {
  /** What must be typed to confirm. */
  name: string;
  /** What is deleted together with the record. */
  alsoDeleted: readonly ReactNode[];
  document: TypedDocumentNode<Data, { input: Input }>;
  input: Input;
  onDone: () => void;
}

/** A button `Delete` that asks for the record's name, and says what else is deleted. */
export function DeleteRecord<Data extends object, Input extends object>({
  name,
  alsoDeleted,
  document,
  input,
  onDone,
}: DeleteRecordProps<Data, Input>) {
  const t = useMessages(dialogMessages);
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <Button icon="trash" onClick={() => setIsOpen(true)}>
        {t.delete}
      </Button>
      <Dialog title={t.deleteThing(name)} isOpen={isOpen} onClose={close} size="small" isUrgent>
        {alsoDeleted.length > 0 && (
          <div className={styles.alsoDeleted}>
            <p>{t.alsoDeleted}</p>
            <ul>
              {alsoDeleted.map((thing, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change.
                <li key={index}>{thing}</li>
              ))}
            </ul>
          </div>
        )}
        <Foreseen document={document} input={input} />
        <AnyActionForm
          document={document}
          schema={z.object({
            confirmation: z
              .string()
              .check(z.refine((typed) => isSameName(typed, name), t.nameDiffers)),
          })}
          values={{ confirmation: '' }}
          toInput={() => input}
          onDone={onDone}
          submit={t.delete}
          kind="danger"
          onCancel={close}
        >
          <TextField name="confirmation" label={t.typeToConfirm(name)} hasFocus />
        </AnyActionForm>
      </Dialog>
    </>
  );
}

/** The section of a record's page that deletes it, then opens the list. */
export function DeleteSection<Data extends object, Input extends object>({
  texts,
  name,
  to,
  ...deletion
}: {
  texts: {
    readonly deleteTitle: string;
    readonly deleteAbout: string;
    readonly deleted: (name: string) => string;
  };
  /** The page of the list. */
  to: '/apis' | '/applications' | '/organizations' | '/roles' | '/webhooks';
} & Omit<DeleteRecordProps<Data, Input>, 'onDone'>) {
  const navigate = useNavigate();
  const onDone = () => {
    toast.done(texts.deleted(name));
    void navigate({ to });
  };
  return (
    <Section
      title={texts.deleteTitle}
      about={texts.deleteAbout}
      isDangerous
      action={<DeleteRecord name={name} {...deletion} onDone={onDone} />}
    />
  );
}
