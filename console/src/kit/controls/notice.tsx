import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import { Icon } from './icon.tsx';
import styles from './notice.module.css';

/** A highlighted message. */
export const Notice = ({
  tone = 'plain',
  title,
  action,
  children,
}: {
  tone?: 'plain' | 'warn' | 'bad' | 'good';
  title?: string;
  action?: ReactNode;
  children?: ReactNode;
}) => (
  <div className={classes(styles.notice, styles[tone])}>
    <Icon name={tone === 'good' ? 'check' : tone === 'plain' ? 'info' : 'warning'} />
    <div className={styles.words}>
      {title && <p className={styles.title}>{title}</p>}
      {children && <div>{children}</div>}
    </div>
    {action}
  </div>
);
