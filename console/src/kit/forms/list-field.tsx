import { useId, useRef } from 'react';
import { useController, useFormContext } from 'react-hook-form';
import { Button, IconButton } from '../controls/button.tsx';
import { controlMessages } from '../controls/messages.ts';
import { useMessages } from '../language/language.ts';
import { type FieldProps, useNamed } from './field.tsx';
import styles from './form.module.css';
import { formMessages } from './messages.ts';

interface Problem {
  readonly message?: string;
}

/** A list of texts, one a line. The value contains the empty lines too; `filled` removes them. */
export function ListField({
  name,
  label,
  hint,
  placeholder,
}: FieldProps & { placeholder?: string }) {
  const t = useMessages(controlMessages);
  const texts = useMessages(formMessages);
  const id = useId();
  const rows = useRef<HTMLDivElement>(null);
  const { clearErrors } = useFormContext();
  const {
    field: { value, onChange, onBlur },
    fieldState: { error },
  } = useController({ name });
  useNamed(name, { label });
  const values = value as readonly string[];
  const problems = (error ?? {}) as { readonly [line: number]: Problem | undefined } & Problem;
  const change = (next: readonly string[]) => {
    clearErrors(name);
    onChange(next);
  };
  const focus = (line: number) =>
    requestAnimationFrame(() => rows.current?.querySelectorAll('input')[line]?.focus());
  return (
    <fieldset className={styles.field} aria-describedby={hint ? `${id}-hint` : undefined}>
      <legend className={styles.legend}>{label}</legend>
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problems.message && <p className={styles.error}>{problems.message}</p>}
      <div ref={rows} className={styles.lines}>
        {values.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place in the list.
          <div key={index}>
            <div className={styles.withButton}>
              <input
                className={`${styles.input} ${styles.code}`}
                value={line}
                placeholder={placeholder}
                spellCheck={false}
                aria-label={`${label} ${index + 1}`}
                aria-invalid={problems[index] !== undefined}
                aria-describedby={problems[index] ? `${id}-error-${index}` : undefined}
                onBlur={onBlur}
                onChange={(event) => change(values.with(index, event.target.value))}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || line === '') return;
                  event.preventDefault();
                  change(values.toSpliced(index + 1, 0, ''));
                  focus(index + 1);
                }}
              />
              <IconButton
                icon="close"
                label={t.removeNumber(label, index + 1)}
                onClick={() => {
                  change(values.toSpliced(index, 1));
                  focus(Math.max(0, index - 1));
                }}
              />
            </div>
            {problems[index]?.message && (
              <p className={styles.error} id={`${id}-error-${index}`}>
                {problems[index].message}
              </p>
            )}
          </div>
        ))}
      </div>
      <Button
        size="small"
        icon="plus"
        className={styles.addLine}
        aria-label={texts.addTo(label)}
        onClick={() => {
          change([...values, '']);
          focus(values.length);
        }}
      >
        {t.add}
      </Button>
    </fieldset>
  );
}

/** The lines that are not empty. */
export const filled = (lines: readonly string[]): string[] =>
  lines.map((line) => line.trim()).filter((line) => line !== '');
