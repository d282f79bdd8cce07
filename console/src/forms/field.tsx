import { type ReactNode, useId } from 'react';
import { useFormContext } from 'react-hook-form';
import { useMessages } from '../language/language.ts';
import styles from './form.module.css';
import { formMessages } from './messages.ts';

/** What every field takes. */
export interface FieldProps {
  /** The name of the value, as the mutation's input has it. */
  readonly name: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isOptional?: boolean;
}

/** What ties a field's parts together for whoever does not see them. */
export interface FieldTies {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-required': boolean | undefined;
}

interface Problem {
  readonly message?: string;
}

/** The error of a field, and the ids that tie it to its hint and its error. */
export function useField({ name, hint, isOptional }: FieldProps) {
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

/** What stands below a field. */
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
