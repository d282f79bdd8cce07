import { Link } from '@tanstack/react-router';
import { useData } from '../api/use-data.ts';
import { Badge } from '../controls/badge.tsx';
import { useMessages } from '../language/language.ts';
import { DataTable, rowLink } from '../lists/data-table.tsx';
import { Section } from '../records/section.tsx';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import { EmptyState } from '../states/state.tsx';
import styles from './applications.module.css';
import { ApplicationOrganizations } from './documents.ts';
import { applicationMessages } from './messages.ts';

/** The organizations that an application is a member of. */
export function OrganizationsTab({ id }: { id: string }) {
  const t = useMessages(applicationMessages);
  const { data, error, askAgain } = useData(ApplicationOrganizations, { id });
  if (error && !data) return <Failed error={error} onRetry={askAgain} />;
  if (!data) return <Loading lines={3} />;
  const memberships = data.application?.organizations.edges ?? [];
  if (memberships.length === 0)
    return (
      <EmptyState icon="organizations" title={t.tabs.organizations}>
        {t.noOrganizations}
      </EmptyState>
    );
  return (
    <Section title={t.tabs.organizations} about={t.organizationsAbout}>
      <DataTable
        label={t.tabs.organizations}
        rows={memberships}
        columns={[
          {
            id: 'name',
            header: t.name,
            cell: ({ node }) => (
              <Link to="/organizations/$id" params={{ id: node.id }} className={rowLink}>
                {node.name}
              </Link>
            ),
          },
          {
            id: 'roles',
            header: t.tabs.roles,
            cell: ({ roles }) => (
              <span className={styles.chips}>
                {roles.edges.map(({ node }) => (
                  <Badge key={node.id}>{node.name}</Badge>
                ))}
              </span>
            ),
          },
        ]}
      />
    </Section>
  );
}
