import { type ReactNode, useId } from 'react';
import { classes } from '../controls/classes.ts';
import styles from './page.module.css';

/** A part of a page with a heading of its own. */
export function Section({
  title,
  about,
  action,
  isDangerous = false,
  children,
}: {
  title: string;
  about?: ReactNode;
  action?: ReactNode;
  isDangerous?: boolean;
  children?: ReactNode;
}) {
  const id = useId();
  return (
    <section className={classes(styles.section, isDangerous && styles.danger)} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <div>
          <h2 className={styles.sectionTitle} id={id}>
            {title}
          </h2>
          {about && <p className={styles.sectionAbout}>{about}</p>}
        </div>
        {action}
      </div>
      {children && <div className={styles.sectionBody}>{children}</div>}
    </section>
  );
}

/** A list of names and values. */
export const Properties = ({ children }: { children: ReactNode }) => (
  <dl className={styles.properties}>{children}</dl>
);

/** A name and its value. */
export const Property = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);
