import { Popover } from '@base-ui/react/popover';
import { type ReactNode, useId } from 'react';
import { Icon } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import styles from './filter.module.css';
import { listMessages } from './messages.ts';

/** A choice of a filter. */
export interface Option {
  readonly value: string;
  readonly label: string;
}

/** A button that opens the options of a filter. With `isSingle`, only one can be chosen. */
export function Filter({
  label,
  groups,
  chosen,
  onChange,
  isSingle = false,
  isShownBeside = false,
  footer,
}: {
  label: string;
  groups: readonly { readonly label?: string; readonly options: readonly Option[] }[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  isSingle?: boolean;
  /** Whether what is chosen stands beside it already. */
  isShownBeside?: boolean;
  /** Shown below the options. */
  footer?: ReactNode;
}) {
  const t = useMessages(listMessages);
  const id = useId();
  const all = groups.flatMap(({ options }) => options);
  const names = chosen.map((value) => all.find((option) => option.value === value)?.label ?? value);
  return (
    <Popover.Root>
      <Popover.Trigger
        className={styles.trigger}
        data-chosen={(chosen.length > 0 && !isShownBeside) || undefined}
      >
        {label}{' '}
        {names.length > 0 && !isShownBeside && (
          <span className={styles.chosen}>
            {names[0]}
            {names.length > 1 && ` +${names.length - 1}`}
          </span>
        )}
        <Icon name="down" size={12} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start" className={styles.positioner}>
          <Popover.Popup className={styles.popup} aria-label={label}>
            <div className={styles.options}>
              {groups.map((group, index) => (
                <fieldset key={group.label ?? index} className={styles.group}>
                  {group.label && <legend className={styles.groupLabel}>{group.label}</legend>}
                  {group.options.map(({ value, label: name }) => (
                    <label key={value} className={styles.option}>
                      <input
                        type={isSingle ? 'radio' : 'checkbox'}
                        name={id}
                        checked={chosen.includes(value)}
                        onChange={(event) => {
                          if (isSingle) onChange([value]);
                          else if (event.target.checked) onChange([...chosen, value]);
                          else onChange(chosen.filter((one) => one !== value));
                        }}
                      />
                      {name}
                    </label>
                  ))}
                </fieldset>
              ))}
            </div>
            {footer && <div className={styles.footer}>{footer}</div>}
            {chosen.length > 0 && (
              <button type="button" className={styles.clear} onClick={() => onChange([])}>
                {t.clear}
              </button>
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
