import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import type { UserOrderField } from '../generated/graphql.ts';
import { useFormat } from '../language/format.ts';
import { useMessages } from '../language/language.ts';
import { rowLink } from '../lists/data-table.tsx';
import { daysAgo } from '../lists/days.ts';
import { ListPage, orderIn, pageIn } from '../lists/list-page.tsx';
import { useOpenInAddress } from '../lists/open-in-address.ts';
import type { RecordSearch } from '../lists/record-filter.tsx';
import { shownName } from '../records/shown-name.ts';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { CreateUserDialog } from './create-user.tsx';
import {
  NameOfOrganization,
  NameOfRole,
  SearchOrganizations,
  SearchUserRoles,
  Users,
} from './documents.ts';
import { ImportDialog } from './import-dialog.tsx';
import { userMessages } from './messages.ts';
import { Status } from './status.tsx';

const roles: RecordSearch = {
  search: async (search, signal) =>
    (await send(SearchUserRoles, { search }, signal)).roles.edges.map(({ node }) => ({
      key: node.id,
      text: node.name,
      detail: node.description,
    })),
  nameOf: async (id) => (await send(NameOfRole, { id })).role?.name,
};

const organizations: RecordSearch = {
  search: async (search, signal) =>
    (await send(SearchOrganizations, { search }, signal)).organizations.edges.map(({ node }) => ({
      key: node.id,
      text: node.name,
      detail: node.description,
    })),
  nameOf: async (id) => (await send(NameOfOrganization, { id })).organization?.name,
};

/** All users. */
export function UsersPage() {
  const t = useMessages(userMessages);
  const format = useFormat();
  const canWrite = useCan('users:write');
  const seesRoles = useCan('roles:read');
  const seesOrganizations = useCan('organizations:read');
  const creation = useOpenInAddress('create');
  const importing = useOpenInAddress('import');
  const days = (count: number) => format.number(count);
  const create = canWrite && (
    <>
      <Button onClick={importing.open}>{t.import}</Button>
      <Button kind="primary" icon="plus" onClick={creation.open}>
        {t.create}
      </Button>
    </>
  );
  return (
    <>
      <ListPage
        heading={t.heading}
        lead={t.lead}
        action={create}
        document={Users}
        variables={(address) => ({
          ...pageIn(address),
          orderBy: orderIn<UserOrderField>(address),
          filter: {
            search: address['search'],
            isSuspended: address['status'] ? address['status'] === 'suspended' : undefined,
            lastSignInAfter: daysAgo(address['lastSignIn']),
            lastSignInBefore: daysAgo(address['lastSignIn']?.match(/^not-(.*)$/)?.[1]),
            createdAfter: daysAgo(address['created']),
            roleId: seesRoles ? address['role'] : undefined,
            organizationId: seesOrganizations ? address['organization'] : undefined,
          },
        })}
        connection={({ users }) => users}
        columns={[
          {
            id: 'name',
            header: t.name,
            orderBy: 'NAME',
            cell: (user) => (
              <Link to="/users/$id" params={{ id: user.id }} className={rowLink}>
                {shownName(user)}
              </Link>
            ),
          },
          {
            id: 'username',
            header: t.username,
            orderBy: 'USERNAME',
            from: 'medium',
            cell: ({ username }) => username,
          },
          {
            id: 'primaryEmail',
            header: t.email,
            orderBy: 'PRIMARY_EMAIL',
            from: 'medium',
            cell: ({ primaryEmail }) => primaryEmail,
          },
          {
            id: 'status',
            header: t.status,
            isNarrow: true,
            cell: ({ isSuspended }) => <Status isSuspended={isSuspended} />,
          },
          {
            id: 'lastSignInAt',
            header: t.lastSignIn,
            orderBy: 'LAST_SIGN_IN_AT',
            isNarrow: true,
            from: 'wide',
            cell: ({ lastSignInAt }) => (lastSignInAt ? <Time at={lastSignInAt} /> : t.never),
          },
          {
            id: 'createdAt',
            header: t.createdAt,
            orderBy: 'CREATED_AT',
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
        ]}
        filters={[
          {
            name: 'status',
            label: t.status,
            isSingle: true,
            options: [
              { value: 'active', label: t.active },
              { value: 'suspended', label: t.suspended },
            ],
          },
          {
            name: 'lastSignIn',
            label: t.lastSignIn,
            isSingle: true,
            options: [
              { value: '7', label: t.signedInWithin(days(7)) },
              { value: '30', label: t.signedInWithin(days(30)) },
              { value: 'not-90', label: t.notSignedInFor(days(90)) },
            ],
          },
          {
            name: 'created',
            label: t.createdAt,
            isSingle: true,
            options: [7, 30, 90].map((count) => ({
              value: String(count),
              label: t.createdWithin(days(count)),
            })),
          },
          ...(seesRoles ? [{ name: 'role', label: t.role, records: roles }] : []),
          ...(seesOrganizations
            ? [{ name: 'organization', label: t.organization, records: organizations }]
            : []),
        ]}
        empty={
          <EmptyState icon="users" title={t.emptyTitle} action={create}>
            {t.emptyText}
          </EmptyState>
        }
      />
      {canWrite && (
        <>
          <CreateUserDialog isOpen={creation.isOpen} onClose={creation.close} />
          <ImportDialog isOpen={importing.isOpen} onClose={importing.close} />
        </>
      )}
    </>
  );
}
