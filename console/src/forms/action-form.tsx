import { standardSchemaResolver } from '@hookform/resolvers/standard-schema';
import type { TypedDocumentNode } from '@urql/core';
import { type ReactNode, useState } from 'react';
import { type DefaultValues, type FieldValues, FormProvider, useForm } from 'react-hook-form';
import type { ZodMiniType } from 'zod/mini';
import type { Issue } from '../api/refusal.ts';
import { type PayloadOfDocument, useAction } from '../api/use-action.ts';
import { Button } from '../controls/button.tsx';
import { CopyAs } from '../controls/copy-as.tsx';
import { Icon } from '../controls/icon.tsx';
import { DialogFooter } from '../dialogs/dialog.tsx';
import { useMessages } from '../language/language.ts';
import styles from './form.module.css';
import { formMessages } from './messages.ts';
import { useUnsaved } from './unsaved.tsx';

interface ActionFormProps<Values extends FieldValues, Data extends object, Input extends object> {
  /** What is checked here already; the service checks the rest. */
  schema: ZodMiniType<Values, Values>;
  /** What the fields begin with. */
  values: Values;
  document: TypedDocumentNode<Data, { input: Input }>;
  /** The input that is sent; its fields are named as the form's. */
  toInput: (values: Values) => Input;
  onDone: (payload: PayloadOfDocument<TypedDocumentNode<Data, { input: Input }>>) => void;
  submit: string;
  /** In a dialog: how to leave it. On a page: absent, and the buttons show once something is changed. */
  onCancel?: () => void;
  cancel?: string;
  isReadOnly?: boolean;
  kind?: 'primary' | 'danger';
  children: ReactNode;
}

/**
 * A form that runs one mutation. What the service declines stands beside the field that it names; changes are not left
 * without a warning.
 */
export function ActionForm<Values extends FieldValues, Data extends object, Input extends object>({
  schema,
  values,
  document,
  toInput,
  onDone,
  submit,
  onCancel,
  cancel,
  isReadOnly = false,
  kind = 'primary',
  children,
}: ActionFormProps<Values, Data, Input>) {
  const t = useMessages(formMessages);
  const form = useForm<Values, unknown, Values>({
    defaultValues: values as DefaultValues<Values>,
    // What the record is by now, but not over what is being typed.
    values,
    resetOptions: { keepDirtyValues: true },
    resolver: standardSchemaResolver(schema),
  });
  const { run, isRunning } = useAction(document);
  const [elsewhere, setElsewhere] = useState<readonly Issue[]>([]);
  const { isDirty } = form.formState;
  const { guard, letGo } = useUnsaved(isDirty && !isReadOnly);

  const send = form.handleSubmit(async (sent) => {
    setElsewhere([]);
    const outcome = await run(toInput(sent));
    if (outcome.kind === 'refused') {
      const { issues } = outcome.refusal;
      const known = issues.filter(({ path: [first] }) => first !== undefined && first in sent);
      for (const { path, message } of known) {
        form.setError(path.join('.') as never, { message }, { shouldFocus: true });
      }
      setElsewhere(issues.filter((issue) => !known.includes(issue)));
    }
    if (outcome.kind === 'done') {
      letGo();
      form.reset(sent);
      onDone(outcome.payload);
    }
  });

  const copyAs = <CopyAs document={document} input={() => toInput(form.getValues())} />;
  return (
    <FormProvider {...form}>
      {guard}
      <form
        noValidate
        className={styles.form}
        onSubmit={(event) => {
          // A form in a dialog is inside another one as React sees it.
          event.stopPropagation();
          void send(event);
        }}
      >
        <fieldset className={styles.fields} disabled={isReadOnly}>
          {children}
        </fieldset>
        {elsewhere.length > 0 && (
          <div className={styles.elsewhere} role="alert">
            <Icon name="warning" />
            <ul>
              {elsewhere.map(({ path, message }) => (
                <li key={`${path.join('.')} ${message}`}>{message}</li>
              ))}
            </ul>
          </div>
        )}
        {onCancel ? (
          <DialogFooter start={copyAs}>
            <Button onClick={onCancel}>{cancel}</Button>
            <Button type="submit" kind={kind} isBusy={isRunning}>
              {submit}
            </Button>
          </DialogFooter>
        ) : (
          !isReadOnly && (
            <div className={styles.bar}>
              {copyAs}
              <div className={styles.barEnd}>
                {isDirty && (
                  <>
                    <span className={styles.unsaved}>{t.unsaved}</span>
                    <Button
                      onClick={() => {
                        setElsewhere([]);
                        form.reset(values);
                      }}
                    >
                      {t.discard}
                    </Button>
                  </>
                )}
                <Button type="submit" kind={isDirty ? kind : 'plain'} isBusy={isRunning}>
                  {submit}
                </Button>
              </div>
            </div>
          )
        )}
      </form>
    </FormProvider>
  );
}
