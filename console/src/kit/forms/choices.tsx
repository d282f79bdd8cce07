import { useId } from 'react';
import { useController, useFormContext } from 'react-hook-form';
import { FieldNotes, type FieldProps, useField } from './field.tsx';
import styles from './form.module.css';

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

/** The choices of these values, in their order, by the texts of each. */
export const choicesOf = <Value extends string>(
  values: readonly Value[],
  labels: Readonly<Record<Value, string>>,
  descriptions: Readonly<Record<Value, string>>,
): Choice[] =>
  values.map((value) => ({ value, label: labels[value], description: descriptions[value] }));

/** A choice of one out of a few, each with an explanation. */
export function RadioCards({ choices, ...field }: FieldProps & { choices: readonly Choice[] }) {
  const { register } = useFormContext();
  const { error, ties } = useField(field, choices);
  return (
    <fieldset className={styles.field} aria-describedby={ties['aria-describedby']}>
      <legend className={styles.legend}>{field.label}</legend>
      <div className={styles.cards}>
        {choices.map(({ value, label, description }) => (
          <label key={value} className={styles.card}>
            <input
              {...register(field.name)}
              type="radio"
              value={value}
              className={styles.box}
              aria-labelledby={`${ties.id}-${value}`}
              aria-describedby={description ? `${ties.id}-${value}-about` : undefined}
            />
            <span>
              <span className={styles.label} id={`${ties.id}-${value}`}>
                {label}
              </span>
              {description && (
                <span className={styles.about} id={`${ties.id}-${value}-about`}>
                  {description}
                </span>
              )}
            </span>
          </label>
        ))}
      </div>
      <FieldNotes id={ties.id} hint={field.hint} error={error} />
    </fieldset>
  );
}

/** A choice of several out of many, in groups. The value is a list of texts. */
export function CheckGroups({
  groups,
  ...field
}: FieldProps & {
  groups: readonly { readonly label: string; readonly choices: readonly Choice[] }[];
}) {
  const {
    field: { value, onChange, ref, onBlur },
  } = useController({ name: field.name });
  const { error, ties } = useField(
    field,
    groups.flatMap(({ choices }) => choices),
  );
  const chosen = new Set(value as readonly string[]);
  const set = (values: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const one of values) {
      if (isChosen) next.add(one);
      else next.delete(one);
    }
    onChange([...next]);
  };
  let isFirst = true;
  return (
    <fieldset
      className={styles.field}
      aria-describedby={ties['aria-describedby']}
      aria-invalid={ties['aria-invalid']}
    >
      <legend className={styles.legend}>{field.label}</legend>
      <FieldNotes id={ties.id} hint={field.hint} error={error} />
      <div className={styles.groups}>
        {groups.map(({ label, choices }) => {
          const values = choices.map((choice) => choice.value);
          const count = values.filter((one) => chosen.has(one)).length;
          const groupRef = isFirst ? ref : undefined;
          isFirst = false;
          return (
            <fieldset key={label} className={styles.group}>
              <legend className="visually-hidden">{label}</legend>
              <Check
                label={label}
                isStrong
                isChecked={count === values.length}
                isMixed={count > 0 && count < values.length}
                onChange={(isChecked) => set(values, isChecked)}
                inputRef={groupRef}
                onBlur={onBlur}
              />
              {choices.map((choice) => (
                <Check
                  key={choice.value}
                  label={choice.label}
                  isChecked={chosen.has(choice.value)}
                  onChange={(isChecked) => set([choice.value], isChecked)}
                  onBlur={onBlur}
                />
              ))}
            </fieldset>
          );
        })}
      </div>
    </fieldset>
  );
}

function Check({
  label,
  isChecked,
  isMixed = false,
  isStrong = false,
  onChange,
  onBlur,
  inputRef,
}: {
  label: string;
  isChecked: boolean;
  isMixed?: boolean;
  isStrong?: boolean;
  onChange: (isChecked: boolean) => void;
  onBlur: () => void;
  inputRef?: React.Ref<HTMLInputElement> | undefined;
}) {
  const id = useId();
  return (
    <div className={isStrong ? `${styles.tick} ${styles.strong}` : styles.tick}>
      <input
        id={id}
        type="checkbox"
        className={styles.box}
        checked={isChecked}
        ref={(element) => {
          if (element) element.indeterminate = isMixed;
          if (typeof inputRef === 'function') inputRef(element);
        }}
        onBlur={onBlur}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
    </div>
  );
}
