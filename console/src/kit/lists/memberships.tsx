import type { ReactNode } from 'react';
import type { PageInfo } from '../api/page-info.ts';
import { Badge } from '../controls/badge.tsx';
import { useMessages } from '../language/language.ts';
import styles from './data-table.module.css';
import type { Column } from './data-table.tsx';
import { List, type ListProps, type ListVariables, pageIn } from './list-page.tsx';
import { listMessages } from './messages.ts';
import { RowLink } from './row-link.tsx';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Membership {
  readonly id: string;
  readonly node: Named;
  readonly roles: { readonly edges: readonly { readonly node: Named }[] };
}

/** The organizations that a user or an application is a member of, with the roles held there. */
export function Memberships<Data, Edge extends Membership>({
  id,
  document,
  memberships,
  columns = [],
  empty,
}: {
  /** The id of the member. */
  id: string;
  document: ListProps<Data, { id: string } & ListVariables, Edge>['document'];
  memberships: (
    data: Data,
  ) => { readonly edges: readonly Edge[]; readonly pageInfo: PageInfo } | null | undefined;
  columns?: readonly Column<Edge>[];
  empty: ReactNode;
}) {
  const t = useMessages(listMessages);
  return (
    <List
      label={t.organizations}
      hasSearch={false}
      document={document}
      variables={(address) => ({ id, ...pageIn(address) })}
      connection={(data) => {
        const page = memberships(data);
        return page && { ...page, edges: page.edges.map((node) => ({ node })) };
      }}
      columns={[
        {
          id: 'name',
          header: t.name,
          cell: ({ node: organization }) => (
            <RowLink to="/organizations/$id" id={organization.id}>
              {organization.name}
            </RowLink>
          ),
        },
        {
          id: 'roles',
          header: t.roles,
          cell: ({ roles }) => (
            <span className={styles.chips}>
              {roles.edges.map(({ node }) => (
                <Badge key={node.id}>{node.name}</Badge>
              ))}
            </span>
          ),
        },
        ...columns,
      ]}
      empty={empty}
    />
  );
}
