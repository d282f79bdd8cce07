import { Link } from '@tanstack/react-router';
import { useLayoutEffect, useRef, useState } from 'react';
import { useController } from 'react-hook-form';
import type { ApplicationType } from '../../generated/graphql.ts';
import { send } from '../../kit/api/send.ts';
import { IconButton } from '../../kit/controls/button.tsx';
import { SearchPicker } from '../../kit/controls/search-picker.tsx';
import { FieldNotes, type FieldProps, useField } from '../../kit/forms/field.tsx';
import { useMessages } from '../../kit/language/language.ts';
import type { Column } from '../../kit/lists/data-table.tsx';
import { picksOf } from '../../kit/records/search-records.ts';
import { SearchTrustingApplications } from './documents.ts';
import { trustMessages } from './messages.ts';
import styles from './trust.module.css';

/** An application as people choose it. */
export interface Choosable {
  readonly id: string;
  readonly name: string;
}

/**
 * A field of the id of an application, which is found by a search.
 *
 * @param known The application that the form was filled from.
 */
export function ApplicationField({
  types,
  known,
  ...field
}: FieldProps & { types: ApplicationType[]; known?: Choosable | undefined }) {
  const t = useMessages(trustMessages);
  const box = useRef<HTMLFieldSetElement>(null);
  const hasMoved = useRef(false);
  const [picked, setPicked] = useState<Choosable>();
  const {
    field: { value, onChange },
  } = useController({ name: field.name });
  const choices = [picked, known]
    .filter((one) => one !== undefined)
    .map(({ id, name }) => ({ value: id, label: name }));
  const { error, ties } = useField(field, choices);
  const chosen = choices.find((choice) => choice.value === value)?.label ?? String(value);
  const choose = (id: string) => {
    hasMoved.current = true;
    onChange(id);
  };
  // What had the focus is gone. Before the dialog notices that, and takes it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the other control is there once the value has changed.
  useLayoutEffect(() => {
    if (hasMoved.current) box.current?.querySelector<HTMLElement>('input, button')?.focus();
    hasMoved.current = false;
  }, [value]);
  return (
    <fieldset ref={box} className={styles.field}>
      <legend className={styles.legend}>{field.label}</legend>
      {value ? (
        <span className={styles.chip}>
          <span>{chosen}</span>
          <IconButton
            icon="close"
            size="small"
            label={t.anotherApplication(chosen)}
            onClick={() => choose('')}
          />
        </span>
      ) : (
        <SearchPicker
          label={field.label}
          placeholder={t.searchApplications}
          isInvalid={ties['aria-invalid']}
          describedBy={ties['aria-describedby']}
          search={async (search, signal) =>
            picksOf(
              (await send(SearchTrustingApplications, { search, types }, signal)).applications,
            )
          }
          onPick={({ key, text }) => {
            setPicked({ id: key, name: text });
            choose(key);
          }}
        />
      )}
      <FieldNotes id={ties.id} hint={field.hint} error={error} />
    </fieldset>
  );
}

/** The column of a list that leads to the application of each row. */
export function useApplicationColumn<
  Row extends { readonly application: Choosable },
>(): Column<Row> {
  const t = useMessages(trustMessages);
  return {
    id: 'application',
    header: t.application,
    from: 'medium',
    wraps: true,
    cell: ({ application: { id, name } }) => (
      <Link to="/applications/$id" params={{ id }}>
        {name}
      </Link>
    ),
  };
}
