import { type HTMLInputAutoCompleteAttribute, useState } from 'react';
import { useFormContext } from 'react-hook-form';
import { IconButton } from '../controls/button.tsx';
import { useMessages } from '../language/language.ts';
import { Field, type FieldProps, useField } from './field.tsx';
import styles from './form.module.css';
import { formMessages } from './messages.ts';

interface TextProps extends FieldProps {
  readonly type?: 'text' | 'email' | 'tel' | 'url' | 'number' | 'datetime-local';
  readonly autoComplete?: HTMLInputAutoCompleteAttribute;
  readonly placeholder?: string;
  readonly isCode?: boolean;
  readonly hasFocus?: boolean;
}

/** A text field of one line. With `type="number"` its value is a number. */
export function TextField({
  type = 'text',
  autoComplete = 'off',
  placeholder,
  isCode = false,
  hasFocus = false,
  ...field
}: TextProps) {
  const { register } = useFormContext();
  const { error, ties } = useField(field);
  return (
    <Field {...field} ties={ties} error={error}>
      <input
        {...register(field.name, type === 'number' ? { valueAsNumber: true } : {})}
        {...ties}
        className={isCode ? `${styles.input} ${styles.code}` : styles.input}
        type={type}
        autoComplete={autoComplete}
        placeholder={placeholder}
        spellCheck={isCode ? false : undefined}
        // biome-ignore lint/a11y/noAutofocus: the first field of a dialog that was just opened.
        autoFocus={hasFocus}
      />
    </Field>
  );
}

/** A text field of several lines. */
export function TextAreaField({
  rows = 3,
  isCode = false,
  placeholder,
  ...field
}: FieldProps & { rows?: number; isCode?: boolean; placeholder?: string }) {
  const { register } = useFormContext();
  const { error, ties } = useField(field);
  return (
    <Field {...field} ties={ties} error={error}>
      <textarea
        {...register(field.name)}
        {...ties}
        className={isCode ? `${styles.input} ${styles.code}` : styles.input}
        rows={rows}
        placeholder={placeholder}
        spellCheck={isCode ? false : undefined}
      />
    </Field>
  );
}

/** A password field with a button to show it. */
export function PasswordField({
  autoComplete = 'new-password',
  ...field
}: FieldProps & { autoComplete?: 'new-password' | 'off' }) {
  const t = useMessages(formMessages);
  const { register } = useFormContext();
  const { error, ties } = useField(field);
  const [isShown, setIsShown] = useState(false);
  return (
    <Field {...field} ties={ties} error={error}>
      <div className={styles.withButton}>
        <input
          {...register(field.name)}
          {...ties}
          className={styles.input}
          type={isShown ? 'text' : 'password'}
          autoComplete={autoComplete}
        />
        <IconButton
          icon="eye"
          label={isShown ? t.hidePassword : t.showPassword}
          aria-pressed={isShown}
          onClick={() => setIsShown(!isShown)}
        />
      </div>
    </Field>
  );
}

/** A select of one option. */
export function SelectField({
  options,
  ...field
}: FieldProps & { options: readonly { readonly value: string; readonly label: string }[] }) {
  const { register } = useFormContext();
  const { error, ties } = useField(field, options);
  return (
    <Field {...field} ties={ties} error={error}>
      <select {...register(field.name)} {...ties} className={styles.select}>
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** A checkbox that is sent with the form. */
export function CheckField({ name, label, hint }: FieldProps) {
  const { register } = useFormContext();
  const { error, ties } = useField({ name, label, hint, isOptional: true });
  return (
    <div className={styles.check}>
      <input {...register(name)} {...ties} type="checkbox" className={styles.box} />
      <div>
        <label htmlFor={ties.id} className={styles.label}>
          {label}
        </label>
        {error?.message && (
          <p className={styles.error} id={`${ties.id}-error`}>
            {error.message}
          </p>
        )}
        {hint && (
          <p className={styles.hint} id={`${ties.id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
