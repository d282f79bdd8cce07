import { Link } from '@tanstack/react-router';
import { Icon } from '../controls/icon.tsx';
import { useMessages } from '../language/language.ts';
import { lastSeen } from './last-seen.ts';
import { recordMessages } from './messages.ts';
import styles from './page.module.css';

/** The link from a record to its list, as it was last seen: with its search, filters, order and page. */
export function BackTo({ to, label }: { to: string; label: string }) {
  const t = useMessages(recordMessages);
  return (
    <nav className={styles.crumbs} aria-label={t.breadcrumb}>
      <Icon name="left" size={12} />
      <Link to={to} search={lastSeen(to)}>
        {label}
      </Link>
    </nav>
  );
}
