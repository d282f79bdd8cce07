import { type ReactNode, useEffect } from 'react';
import styles from './page.module.css';

/** A page with heading, actions and content. The heading is the window's title too. */
export function Page({
  heading,
  lead,
  above,
  actions,
  width = 'full',
  children,
}: {
  heading: string;
  lead?: ReactNode;
  above?: ReactNode;
  actions?: ReactNode;
  width?: 'full' | 'reading';
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${heading} · Signet`;
  }, [heading]);
  return (
    <div className={width === 'reading' ? `${styles.page} ${styles.reading}` : styles.page}>
      {above}
      <header className={styles.head}>
        <div className={styles.words}>
          <h1 className={styles.heading}>{heading}</h1>
          {lead && <div className={styles.lead}>{lead}</div>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}
