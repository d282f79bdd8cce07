import { Switch as BaseSwitch } from '@base-ui/react/switch';
import type { ReactNode } from 'react';
import { useId } from 'react';
import styles from './switch.module.css';

/** A switch that applies at once, with its name and what it does. */
export function Switch({
  label,
  description,
  isOn,
  onChange,
  isDisabled = false,
}: {
  label: string;
  description?: ReactNode;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  isDisabled?: boolean;
}) {
  const id = useId();
  return (
    <div className={styles.row}>
      <div className={styles.words}>
        <span className={styles.label} id={`${id}-label`}>
          {label}
        </span>
        {description && (
          <p className={styles.description} id={`${id}-description`}>
            {description}
          </p>
        )}
      </div>
      <BaseSwitch.Root
        className={styles.switch}
        checked={isOn}
        onCheckedChange={onChange}
        disabled={isDisabled}
        aria-labelledby={`${id}-label`}
        aria-describedby={description ? `${id}-description` : undefined}
      >
        <BaseSwitch.Thumb className={styles.thumb} />
      </BaseSwitch.Root>
    </div>
  );
}
