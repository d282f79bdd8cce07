import type { ReactNode } from 'react';
import { Icon, type IconName } from '../controls/icon.tsx';
import styles from './state.module.css';

/** Shown instead of content: why there is none, and what to do next. */
export const EmptyState = ({
  icon,
  title,
  children,
  action,
  isPage = false,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** Whether it is the whole page, without a heading above it. */
  isPage?: boolean;
}) => (
  <div className={styles.state}>
    <span className={styles.icon}>
      <Icon name={icon} size={20} />
    </span>
    {isPage ? <h1 className={styles.title}>{title}</h1> : <h2 className={styles.title}>{title}</h2>}
    {children && <div className={styles.text}>{children}</div>}
    {action && <div className={styles.action}>{action}</div>}
  </div>
);
