import { createContext, type ReactNode, useContext, useEffect, useId } from 'react';
import { useFormContext } from 'react-hook-form';
import { useMessages } from '../language/language.ts';
import styles from './form.module.css';
import { formMessages } from './messages.ts';

/** The properties of every field. */
export interface FieldProps {
  /** The value's name, as in the mutation's input. */
  readonly name: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isOptional?: boolean;
}

/** Connects a field with its hint and error for screen readers. */
export interface FieldTies {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-required': boolean | undefined;
}

/** What people call a field, and its values if they are choices. */
export interface NamedField {
  readonly label: string;
  readonly choices?: readonly { readonly value: string; readonly label: string }[] | undefined;
}

/** The fields that a form shows, by name. */
export const FieldsShown = createContext<Map<string, NamedField>>(new Map());

/** Tells the form what a field is called. */
export function useNamed(name: string, { label, choices }: NamedField): void {
  const fields = useContext(FieldsShown);
  useEffect(() => void fields.set(name, { label, choices }));
  useEffect(() => () => void fields.delete(name), [fields, name]);
}

interface Problem {
  readonly message?: string;
}

/** A field's error, and the ids of its hint and error. */
export function useField(
  { name, label, hint, isOptional }: FieldProps,
  choices?: NamedField['choices'],
) {
  useNamed(name, { label, choices });
  const id = useId();
  const { getFieldState, formState } = useFormContext();
  const error = getFieldState(name, formState).error as Problem | undefined;
  const describedBy = [hint && `${id}-hint`, error?.message && `${id}-error`].filter(Boolean);
  const ties: FieldTies = {
    id,
    'aria-invalid': error !== undefined,
    'aria-describedby': describedBy.join(' ') || undefined,
    'aria-required': isOptional ? undefined : true,
  };
  return { error, ties };
}

/** A field with its label above it, and its hint and error below. */
export function Field({
  label,
  hint,
  isOptional,
  ties,
  error,
  children,
}: Omit<FieldProps, 'name'> & {
  ties: FieldTies;
  error: Problem | undefined;
  children: ReactNode;
}) {
  const t = useMessages(formMessages);
  return (
    <div className={styles.field}>
      <div className={styles.labelRow}>
        <label htmlFor={ties.id} className={styles.label}>
          {label}
        </label>
        {isOptional && (
          <span className={styles.optional} aria-hidden="true">
            {t.optional}
          </span>
        )}
      </div>
      {children}
      <FieldNotes id={ties.id} hint={hint} error={error} />
    </div>
  );
}

/** The hint and the error below a field. */
export const FieldNotes = ({
  id,
  hint,
  error,
}: {
  id: string;
  hint?: ReactNode;
  error: Problem | undefined;
}) => (
  <>
    {error?.message && (
      <p className={styles.error} id={`${id}-error`}>
        {error.message}
      </p>
    )}
    {hint && (
      <p className={styles.hint} id={`${id}-hint`}>
        {hint}
      </p>
    )}
  </>
);
