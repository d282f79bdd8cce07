import { type ComponentType, useRef, useState } from 'react';
import { useController } from 'react-hook-form';
import { FieldNotes, type FieldProps, useField } from '../kit/forms/field.tsx';
import formStyles from '../kit/forms/form.module.css';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import type { QueryEditorProps } from './query-editor.tsx';
import styles from './webhooks.module.css';

const example = `subscription {
  events {
    id
    name
    data
  }
}`;

/** A field for a GraphQL document: plain at first, an editor once it has the focus. */
export function QueryField({
  isReadOnly = false,
  ...field
}: FieldProps & { isReadOnly?: boolean }) {
  const t = useMessages(formMessages);
  const {
    field: { value, onChange, onBlur, ref },
  } = useController({ name: field.name });
  const { error, ties } = useField(field);
  const { Editor, load, caret } = useEditor();
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
      {Editor ? (
        <Editor
          label={field.label}
          about={about}
          value={String(value)}
          hint={example}
          isInvalid={error !== undefined}
          isReadOnly={isReadOnly}
          caret={caret.current}
          onChange={onChange}
          onBlur={onBlur}
          focusRef={ref}
        />
      ) : (
        <textarea
          {...ties}
          aria-label={field.label}
          ref={ref}
          className={`${formStyles.input} ${formStyles.code} ${styles.plain}`}
          value={String(value)}
          readOnly={isReadOnly}
          placeholder={example}
          spellCheck={false}
          onFocus={(event) => load(event.currentTarget)}
          onBlur={onBlur}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      <FieldNotes id={ties.id} hint={field.hint} error={error} />
    </div>
  );
}

/** Loads the editor on demand. Without a network, the plain field stays. */
function useEditor() {
  const [Editor, setEditor] = useState<ComponentType<QueryEditorProps>>();
  const caret = useRef<number>(undefined);
  return {
    Editor,
    caret,
    load(field: HTMLTextAreaElement) {
      import('./query-editor.tsx').then(
        (editor) => {
          // The plain field passes its focus and caret to the editor.
          caret.current = document.activeElement === field ? field.selectionEnd : undefined;
          setEditor(() => editor.default);
        },
        () => undefined,
      );
    },
  };
}
