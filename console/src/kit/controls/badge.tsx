import type { ReactNode } from 'react';
import styles from './badge.module.css';
import { classes } from './classes.ts';

/** A short label for a record's state. */
export const Badge = ({
  tone = 'plain',
  hasDot = false,
  children,
}: {
  tone?: 'plain' | 'accent' | 'good' | 'warn' | 'bad';
  hasDot?: boolean;
  children: ReactNode;
}) => (
  <span className={classes(styles.badge, styles[tone])}>
    {hasDot && <span className={styles.dot} aria-hidden="true" />}
    {children}
  </span>
);
