import { type ReactNode, useEffect } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import type { Versioned } from '../kit/forms/meanwhile.tsx';
import { Section } from '../kit/records/section.tsx';
import styles from './sign-in-experience.module.css';
import type { ExperienceValues } from './values.ts';

/** What the form of each tab is given. */
export interface TabForm {
  readonly experience: Versioned;
  readonly values: ExperienceValues;
  readonly isReadOnly: boolean;
  /** Called with the values of the form, saved or not. */
  readonly onValues: (values: Partial<ExperienceValues>) => void;
}

/** Reports the values of the form around it. */
export function Watched({ onValues }: Pick<TabForm, 'onValues'>) {
  const { control } = useFormContext<ExperienceValues>();
  const values = useWatch({ control });
  // All fields of the form have a value from the start.
  useEffect(() => onValues(values as Partial<ExperienceValues>), [values, onValues]);
  return null;
}

/** A section of a form. */
export const Part = ({
  title,
  about,
  children,
}: {
  title: string;
  about?: string;
  children: ReactNode;
}) => (
  <Section title={title} about={about}>
    <div className={styles.part}>{children}</div>
  </Section>
);
