import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { Badge } from '../controls/badge.tsx';
import { Time } from '../controls/time.tsx';
import { PickAction } from '../dialogs/pick-action.tsx';
import { useMessages } from '../language/language.ts';
import { rowLink } from '../lists/data-table.tsx';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { AddUserToOrganization, SearchOrganizations, UserOrganizations } from './documents.ts';
import { userMessages } from './messages.ts';
import styles from './users.module.css';

/** The organizations that a user is a member of. */
export function OrganizationsTab({ id }: { id: string }) {
  const t = useMessages(userMessages);
  const canAdd = useCan('organizations:write');
  return (
    <Section title={t.tabs.organizations} about={t.organizationsAbout}>
      {canAdd && (
        <PickAction
          label={t.addToOrganization}
          placeholder={t.addToOrganizationPlaceholder}
          search={async (search, signal) => {
            const found = await send(SearchOrganizations, { search }, signal);
            return found.organizations.edges.map(({ node }) => ({
              key: node.id,
              text: node.name,
              detail: node.description,
            }));
          }}
          document={AddUserToOrganization}
          input={(key) => ({ organizationId: key, userIds: [id] })}
        />
      )}
      <List
        label={t.tabs.organizations}
        hasSearch={false}
        document={UserOrganizations}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ user }) =>
          user && {
            pageInfo: user.organizations.pageInfo,
            edges: user.organizations.edges.map((membership) => ({
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
          {
            id: 'joinedAt',
            header: t.joinedAt,
            isNarrow: true,
            from: 'medium',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
        ]}
        empty={
          <p className={styles.about}>{canAdd ? t.noOrganizations : t.noOrganizationsReadOnly}</p>
        }
      />
    </Section>
  );
}
