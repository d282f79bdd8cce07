import { standardSchemaResolver } from '@hookform/resolvers/standard-schema';
import type { TypedDocumentNode } from '@urql/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type DefaultValues, type FieldValues, FormProvider, useForm } from 'react-hook-form';
import type { ZodMiniType } from 'zod/mini';
import type { Issue } from '../api/refusal.ts';
import { type PayloadOfDocument, useAction } from '../api/use-action.ts';
import { Button } from '../controls/button.tsx';
import { CopyAs } from '../controls/copy-as.tsx';
import { Icon } from '../controls/icon.tsx';
import { DialogFooter } from '../dialogs/dialog.tsx';
import { useUnsaved } from '../dialogs/unsaved.tsx';
import { useMessages } from '../language/language.ts';
import { FieldsShown } from './field.tsx';
import styles from './form.module.css';
import { MeanwhileNotice, useMeanwhile, type Versioned } from './meanwhile.tsx';
import { formMessages } from './messages.ts';

interface ActionFormProps<Values extends FieldValues, Data extends object, Input extends object> {
  /** The checks before sending; the service checks the rest. */
  schema: ZodMiniType<Values, Values>;
  /** The initial values of the fields. */
  values: Values;
  document: TypedDocumentNode<Data, { input: Input }>;
  /** Makes the mutation's input; its fields are named like the form's. */
  toInput: (values: Values) => Input;
  onDone: (
    payload: PayloadOfDocument<TypedDocumentNode<Data, { input: Input }>>,
    sent: Values,
  ) => void;
  submit: string;
  /** In a dialog: closes it. On a page: absent, and the buttons show once something has changed. */
  onCancel?: () => void;
  isReadOnly?: boolean;
  /** The record that `values` are from. Its version is sent, so that a save overwrites nothing unseen. */
  record?: Versioned | undefined;
  kind?: 'primary' | 'danger';
  children: ReactNode;
}

/** An {@link ActionForm} whose mutation is not known here: it takes whatever version the record has. */
export function AnyActionForm<
  Values extends FieldValues,
  Data extends object,
  Input extends object,
>({
  schema,
  values,
  document,
  toInput,
  onDone,
  submit,
  onCancel,
  isReadOnly = false,
  record,
  kind = 'primary',
  children,
}: ActionFormProps<Values, Data, Input>) {
  const t = useMessages(formMessages);
  const form = useForm<Values, unknown, Values>({
    defaultValues: values as DefaultValues<Values>,
    resolver: standardSchemaResolver(schema),
  });
  const { run, isRunning } = useAction(document);
  const [otherIssues, setOtherIssues] = useState<readonly Issue[]>([]);
  const { isDirty } = form.formState;
  const { guard, allowLeaving } = useUnsaved(isDirty && !isReadOnly);

  const meanwhile = useMeanwhile(form, values, record);
  const notice = useRef<HTMLDivElement>(null);
  const toDecide = meanwhile.refusedAt !== undefined && !meanwhile.isLoading;
  useEffect(() => {
    if (toDecide) focusFirst(notice.current);
  }, [toDecide]);

  const send = form.handleSubmit(async (sent) => {
    setOtherIssues([]);
    if (!meanwhile.begin()) return focusFirst(notice.current);
    const { version } = meanwhile;
    const input = toInput(sent);
    const outcome = await run(
      version === undefined ? input : { ...input, expectedVersion: version },
    );
    const currentVersion = outcome.kind === 'refused' ? outcome.refusal.currentVersion : undefined;
    if (currentVersion !== undefined) return meanwhile.refused(currentVersion);
    meanwhile.end(outcome.kind === 'done' ? sent : undefined);
    if (outcome.kind === 'refused') {
      const { issues } = outcome.refusal;
      const known = issues.filter(({ path: [first] }) => first !== undefined && first in sent);
      for (const issue of known) {
        const { name, message } = placeOf(issue, sent);
        form.setError(name as never, { message }, { shouldFocus: true });
      }
      setOtherIssues(issues.filter((issue) => !known.includes(issue)));
    }
    if (outcome.kind === 'done') {
      allowLeaving();
      form.reset(sent);
      onDone(outcome.payload, sent);
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
          // In React's tree, a form in a dialog can be inside another form.
          event.stopPropagation();
          void send(event);
        }}
      >
        <fieldset className={styles.fields} disabled={isReadOnly}>
          <FieldsShown value={meanwhile.fields}>{children}</FieldsShown>
        </fieldset>
        <div aria-live="polite">
          <MeanwhileNotice meanwhile={meanwhile} anchor={notice} />
        </div>
        {otherIssues.length > 0 && (
          <div className={styles.otherIssues} role="alert">
            <Icon name="warning" />
            <ul>
              {otherIssues.map(({ path, message }) => (
                <li key={`${path.join('.')} ${message}`}>{message}</li>
              ))}
            </ul>
          </div>
        )}
        {onCancel ? (
          <DialogFooter start={copyAs}>
            <Button onClick={onCancel}>{t.cancel}</Button>
            <Button type="submit" kind={kind} isBusy={isRunning}>
              {submit}
            </Button>
          </DialogFooter>
        ) : (
          !isReadOnly && (
            <div className={styles.bar} data-changed={isDirty || undefined}>
              {copyAs}
              <div className={styles.barEnd}>
                {isDirty && (
                  <>
                    <span className={styles.unsaved}>{t.unsaved}</span>
                    <Button
                      onClick={() => {
                        setOtherIssues([]);
                        meanwhile.forget();
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

/**
 * A form that runs one mutation. Faults are shown beside the fields that they name, and unsaved changes are not lost
 * without a warning. Where the mutation takes the version of a record, the form has to be given that record: what
 * somebody else saves meanwhile is then not overwritten, but shown.
 */
export const ActionForm: <Values extends FieldValues, Data extends object, Input extends object>(
  props: ActionFormProps<Values, Data, Input> &
    ('expectedVersion' extends keyof Input ? { readonly record: Versioned } : unknown),
) => ReactNode = AnyActionForm;

/** The field that holds what an issue is about. In a text, such as a JSON object, the message says where. */
function placeOf({ path, message }: Issue, sent: FieldValues) {
  let value: unknown = sent;
  let depth = 0;
  while (depth < path.length && typeof value === 'object' && value !== null) {
    value = (value as Record<string, unknown>)[path[depth] ?? ''];
    depth += 1;
  }
  const within = path.slice(depth).join('.');
  return {
    name: path.slice(0, depth).join('.'),
    message: within === '' ? message : `${within}: ${message}`,
  };
}

/** Focuses the first choice of the notice, or else the notice. */
const focusFirst = (notice: HTMLElement | null): void =>
  (notice?.querySelector('input') ?? notice)?.focus();
