import { useState } from 'react';
import { useController } from 'react-hook-form';
import { durationUnits, largestUnitOf, useFormat } from '../language/format.ts';
import { useMessages } from '../language/language.ts';
import { Field, type FieldProps, useField } from './field.tsx';
import styles from './form.module.css';
import { formMessages } from './messages.ts';

/** A field of a number of seconds, which people see and type in the unit that they choose. */
export function DurationField(field: FieldProps) {
  const t = useMessages(formMessages);
  const format = useFormat();
  const { error, ties } = useField(field);
  const { field: seconds } = useController({ name: field.name });
  const [chosen, setChosen] = useState<number>();
  const unit = chosen ?? largestUnitOf(seconds.value as number);
  return (
    <Field {...field} ties={ties} error={error}>
      <div className={styles.duration}>
        <input
          {...ties}
          ref={seconds.ref}
          className={styles.input}
          type="number"
          min={0}
          step="any"
          value={Number.isFinite(seconds.value) ? Number(seconds.value) / unit : ''}
          onBlur={seconds.onBlur}
          onChange={({ target }) => {
            // The unit stays while somebody types.
            setChosen(unit);
            seconds.onChange(target.valueAsNumber * unit);
          }}
        />
        <select
          className={styles.select}
          aria-label={t.unitOf(field.label)}
          value={unit}
          onChange={({ target }) => {
            setChosen(Number(target.value));
            seconds.onChange(((seconds.value as number) / unit) * Number(target.value));
          }}
        >
          {durationUnits.map(([name, length]) => (
            <option key={name} value={length}>
              {format.unit(name)}
            </option>
          ))}
        </select>
      </div>
    </Field>
  );
}
