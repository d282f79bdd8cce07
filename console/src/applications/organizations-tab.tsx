import { Link } from '@tanstack/react-router';
import { Badge } from '../controls/badge.tsx';
import { useMessages } from '../language/language.ts';
import { rowLink } from '../lists/data-table.tsx';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { EmptyState } from '../states/state.tsx';
import styles from './applications.module.css';
import { ApplicationOrganizations } from './documents.ts';
import { applicationMessages } from './messages.ts';

/** The organizations that an application is a member of. */
export function OrganizationsTab({ id }: { id: string }) {
  const t = useMessages(applicationMessages);
  return (
    <Section title={t.tabs.organizations} about={t.organizationsAbout}>
      <List
        label={t.tabs.organizations}
        hasSearch={false}
        document={ApplicationOrganizations}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ application }) =>
          application && {
            pageInfo: application.organizations.pageInfo,
            edges: application.organizations.edges.map((membership) => ({
              node: { ...membership, organization: membership.node },
            })),
          }
        }
        columns={[
          {
            id: 'name',
            header: t.name,
            cell: ({ organization }) => (
              <Link to="/organizations/$id" params={{ id: organization.id }} className={rowLink}>
                {organization.name}
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
        empty={
          <EmptyState icon="organizations" title={t.tabs.organizations}>
            {t.noOrganizations}
          </EmptyState>
        }
      />
    </Section>
  );
}
