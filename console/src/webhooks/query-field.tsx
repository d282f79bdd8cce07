import { lazy, Suspense } from 'react';
import { useController } from 'react-hook-form';
import { FieldNotes, type FieldProps, useField } from '../forms/field.tsx';
import formStyles from '../forms/form.module.css';
import { formMessages } from '../forms/messages.ts';
import { useMessages } from '../language/language.ts';
import styles from './webhooks.module.css';

const QueryEditor = lazy(() => import('./query-editor.tsx'));

const example = `subscription {
  events {
    id
    name
    data
  }
}`;

/** A GraphQL document. Until the editor is there, it is a plain field. */
export function QueryField({
  isReadOnly = false,
  ...field
}: FieldProps & { isReadOnly?: boolean }) {
  const t = useMessages(formMessages);
  const {
    field: { value, onChange, onBlur, ref },
  } = useController({ name: field.name });
  const { error, ties } = useField(field);
  const about = [field.hint, error?.message].filter((text) => typeof text === 'string').join(' ');
  return (
    <div className={formStyles.field}>
      <div className={formStyles.labelRow}>
        <span className={formStyles.label}>{field.label}</span>
        {field.isOptional && (
          <span className={formStyles.optional} aria-hidden="true">
            {t.optional}
          </span>
        )}
      </div>
      <Suspense
        fallback={
          <textarea
            className={`${formStyles.input} ${formStyles.code} ${styles.plain}`}
            aria-label={field.label}
            value={String(value)}
            readOnly={isReadOnly}
            placeholder={example}
            onChange={(event) => onChange(event.target.value)}
          />
        }
      >
        <QueryEditor
          label={field.label}
          about={about}
          value={String(value)}
          hint={example}
          isInvalid={error !== undefined}
          isReadOnly={isReadOnly}
          onChange={onChange}
          onBlur={onBlur}
          focusRef={ref}
        />
      </Suspense>
      <FieldNotes id={ties.id} hint={field.hint} error={error} />
    </div>
  );
}
