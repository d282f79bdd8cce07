import { useId, useRef } from 'react';
import { useController, useFormContext } from 'react-hook-form';
import type { ClaimRuleInput } from '../../generated/graphql.ts';
import { Button, IconButton } from '../../kit/controls/button.tsx';
import { controlMessages } from '../../kit/controls/messages.ts';
import { FieldNotes, type FieldProps, useField } from '../../kit/forms/field.tsx';
import { formMessages } from '../../kit/forms/messages.ts';
import { useMessages } from '../../kit/language/language.ts';
import { trustMessages } from './messages.ts';
import styles from './trust.module.css';

type Problem = { readonly message?: string } | undefined;

const parts = ['claim', 'equals'] as const;

/** A list of claims, each with the value that it has to have. */
export function ClaimRulesField(field: FieldProps) {
  const t = useMessages(trustMessages);
  const controls = useMessages(controlMessages);
  const texts = useMessages(formMessages);
  const id = useId();
  const rows = useRef<HTMLDivElement>(null);
  const { clearErrors } = useFormContext();
  const { error, ties } = useField(field);
  const {
    field: { value, onChange, onBlur },
  } = useController({ name: field.name });
  const rules = value as readonly ClaimRuleInput[];
  const problems = (error ?? {}) as {
    readonly [row: number]: { readonly claim?: Problem; readonly equals?: Problem } | undefined;
  };
  const change = (next: readonly ClaimRuleInput[]) => {
    clearErrors(field.name);
    onChange(next);
  };
  const focus = (row: number) =>
    requestAnimationFrame(() => rows.current?.querySelectorAll('input')[row * 2]?.focus());
  const texted = {
    claim: { label: t.claim, labelOf: t.claimNumber, placeholder: 'repository' },
    equals: { label: t.equals, labelOf: t.equalsNumber, placeholder: 'acme/shop' },
  };
  return (
    <fieldset className={styles.field} aria-describedby={ties['aria-describedby']}>
      <legend className={styles.legend}>{field.label}</legend>
      <FieldNotes id={ties.id} hint={field.hint} error={error} />
      <div ref={rows} className={styles.rules}>
        {rules.map((rule, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a rule is its place in the list.
          <div key={index} className={styles.rule}>
            {parts.map((part) => {
              const problem = problems[index]?.[part];
              const { label, labelOf, placeholder } = texted[part];
              return (
                <div key={part} className={styles[part]}>
                  <span className={styles.part} aria-hidden="true">
                    {label}
                  </span>
                  <input
                    className={styles.input}
                    value={rule[part]}
                    placeholder={placeholder}
                    spellCheck={false}
                    autoComplete="off"
                    aria-label={labelOf(index + 1)}
                    aria-invalid={problem !== undefined}
                    aria-describedby={problem ? `${id}-error-${part}-${index}` : undefined}
                    onBlur={onBlur}
                    onChange={({ target }) =>
                      change(rules.with(index, { ...rule, [part]: target.value }))
                    }
                  />
                  {problem?.message && (
                    <p className={styles.error} id={`${id}-error-${part}-${index}`}>
                      {problem.message}
                    </p>
                  )}
                </div>
              );
            })}
            <IconButton
              icon="close"
              label={controls.removeNumber(t.rule, index + 1)}
              onClick={() => {
                change(rules.toSpliced(index, 1));
                focus(Math.max(0, index - 1));
              }}
            />
          </div>
        ))}
      </div>
      <Button
        size="small"
        icon="plus"
        className={styles.add}
        aria-label={texts.addTo(field.label)}
        onClick={() => {
          change([...rules, { claim: '', equals: '' }]);
          focus(rules.length);
        }}
      >
        {controls.add}
      </Button>
    </fieldset>
  );
}
