import { Link } from '@tanstack/react-router';
import { useData } from '../kit/api/use-data.ts';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { useCan } from '../kit/session/session.ts';
import { Failed } from '../kit/states/failed.tsx';
import { Counts } from './documents.ts';
import { overviewMessages } from './messages.ts';
import styles from './overview.module.css';

/** The number of records of each kind that the person may read. */
export function Counted() {
  const t = useMessages(overviewMessages);
  const format = useFormat();
  const sees = {
    users: useCan('users:read'),
    organizations: useCan('organizations:read'),
    applications: useCan('applications:read'),
    resources: useCan('resources:read'),
    roles: useCan('roles:read'),
    webhooks: useCan('webhooks:read'),
  };
  const { data, error, refetch } = useData(Counts, sees);
  if (error && !data) return <Failed error={error} onRetry={refetch} />;
  const counts = [
    { to: '/users', label: t.users, isSeen: sees.users, count: data?.users },
    {
      to: '/organizations',
      label: t.organizations,
      isSeen: sees.organizations,
      count: data?.organizations,
    },
    {
      to: '/applications',
      label: t.applications,
      isSeen: sees.applications,
      count: data?.applications,
    },
    { to: '/apis', label: t.apis, isSeen: sees.resources, count: data?.resources },
    { to: '/roles', label: t.roles, isSeen: sees.roles, count: data?.roles },
    { to: '/webhooks', label: t.webhooks, isSeen: sees.webhooks, count: data?.webhooks },
  ].filter(({ isSeen }) => isSeen);
  return (
    <ul className={styles.counts} aria-label={t.counts}>
      {counts.map(({ to, label, count }) => (
        <li key={to} className={styles.count}>
          <Link to={to} className={styles.countLink}>
            {label}
          </Link>
          <span className={styles.figure}>{count && format.number(count.totalCount)}</span>
        </li>
      ))}
    </ul>
  );
}
