import { useController, useFormContext } from 'react-hook-form';
import { Field, type FieldProps, useField } from '../kit/forms/field.tsx';
import formStyles from '../kit/forms/form.module.css';

/** A field of HTTP headers, one a line. Its errors name the header. */
export function HeadersField(field: FieldProps) {
  const {
    field: { value, onChange, onBlur, ref },
    fieldState: { error },
  } = useController({ name: field.name });
  const { ties } = useField(field);
  const { clearErrors } = useFormContext();
  const message = error && messagesIn(error).join(' ');
  return (
    <Field {...field} ties={ties} error={message ? { message } : undefined}>
      <textarea
        {...ties}
        ref={ref}
        aria-describedby={
          [field.hint && `${ties.id}-hint`, message && `${ties.id}-error`]
            .filter(Boolean)
            .join(' ') || undefined
        }
        className={`${formStyles.input} ${formStyles.code}`}
        rows={3}
        spellCheck={false}
        autoComplete="off"
        placeholder="Authorization: Bearer …"
        value={String(value)}
        onBlur={onBlur}
        onChange={(event) => {
          clearErrors(field.name);
          onChange(event.target.value);
        }}
      />
    </Field>
  );
}

// The error of the field, or one for each header by name.
const messagesIn = (error: object): string[] =>
  'message' in error && typeof error.message === 'string'
    ? [error.message]
    : Object.entries(error).flatMap(([name, inner]) =>
        typeof inner === 'object' && inner !== null && 'message' in inner
          ? [`${name}: ${String(inner.message)}`]
          : [],
      );

/** Whether each line is a header. */
export const areHeaders = (lines: string): boolean =>
  lines.split('\n').every((line) => line.trim() === '' || /^[^:\s]+\s*:/.test(line.trim()));

/** The headers by name. */
export const headersIn = (lines: string): Record<string, string> =>
  Object.fromEntries(
    lines
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      }),
  );
