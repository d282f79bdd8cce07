import { Link } from '@tanstack/react-router';
import { Icon } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import { recordMessages } from './messages.ts';
import styles from './page.module.css';

/** The way back from a record to its list. */
export function BackTo({ to, label }: { to: string; label: string }) {
  const t = useMessages(recordMessages);
  return (
    <nav className={styles.crumbs} aria-label={t.breadcrumb}>
      <Icon name="left" size={12} />
      <Link to={to}>{label}</Link>
    </nav>
  );
}
