import type { UserOrderField } from '../generated/graphql.ts';
import { send } from '../kit/api/send.ts';
import { Button } from '../kit/controls/button.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { useCreation } from '../kit/lists/creation.tsx';
import { byCreation } from '../kit/lists/data-table.tsx';
import { daysAgo } from '../kit/lists/days.ts';
import { ListPage, orderIn, pageIn } from '../kit/lists/list-page.tsx';
import { useOpenInAddress } from '../kit/lists/open-in-address.ts';
import type { RecordSearch } from '../kit/lists/record-filter.tsx';
import { RowLink } from '../kit/lists/row-link.tsx';
import { searchOrganizations, searchRoles } from '../kit/records/search-records.ts';
import { shownName } from '../kit/records/shown-name.ts';
import { useCan } from '../kit/session/session.ts';
import { useBulk } from './bulk/bulk.tsx';
import type { ListedUser } from './bulk/csv.ts';
import { RowMenu } from './bulk/row-menu.tsx';
import { CreateUserDialog } from './create-user.tsx';
import { NameOfOrganization, NameOfRole, Users } from './documents.ts';
import { ImportDialog } from './import/import-dialog.tsx';
import { userMessages } from './messages.ts';
import { Status } from './status.tsx';

const roles: RecordSearch = {
  search: searchRoles('USER'),
  nameOf: async (id) => (await send(NameOfRole, { id })).role?.name,
};

const organizations: RecordSearch = {
  search: searchOrganizations,
  nameOf: async (id) => (await send(NameOfOrganization, { id })).organization?.name,
};

/** All users. */
export function UsersPage() {
  const t = useMessages(userMessages);
  const format = useFormat();
  const canWrite = useCan('users:write');
  const canReadRoles = useCan('roles:read');
  const canReadOrganizations = useCan('organizations:read');
  const importing = useOpenInAddress('import');
  const bulk = useBulk();
  const days = (count: number) => format.number(count);
  const creation = useCreation({
    icon: 'users',
    texts: t,
    isAllowed: canWrite,
    Dialog: CreateUserDialog,
    beside: <Button onClick={importing.open}>{t.import}</Button>,
  });
  return (
    <>
      <ListPage
        heading={t.heading}
        lead={t.lead}
        action={creation.action}
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
            roleId: canReadRoles ? address['role'] : undefined,
            organizationId: canReadOrganizations ? address['organization'] : undefined,
          },
        })}
        connection={({ users }) => users}
        columns={[
          {
            id: 'name',
            header: t.name,
            orderBy: 'NAME',
            cell: (user) => (
              <RowLink to="/users/$id" id={user.id}>
                {shownName(user)}
              </RowLink>
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
            cell: (user) => <Status user={user} />,
          },
          {
            id: 'lastSignInAt',
            header: t.lastSignIn,
            orderBy: 'LAST_SIGN_IN_AT',
            isNarrow: true,
            from: 'wide',
            cell: ({ lastSignInAt }) => (lastSignInAt ? <Time at={lastSignInAt} /> : t.never),
          },
          { ...byCreation, header: t.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ...(canWrite
            ? [
                {
                  id: t.actions,
                  header: '',
                  isNarrow: true,
                  cell: (user: ListedUser) => <RowMenu user={user} ask={bulk.ask} />,
                },
              ]
            : []),
        ]}
        bulk={canWrite ? { nameOf: shownName, actions: bulk.actions } : undefined}
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
          ...(canReadRoles ? [{ name: 'role', label: t.role, records: roles }] : []),
          ...(canReadOrganizations
            ? [{ name: 'organization', label: t.organization, records: organizations }]
            : []),
        ]}
        empty={creation.empty}
      />
      {creation.dialog}
      {bulk.dialogs}
      {canWrite && <ImportDialog isOpen={importing.isOpen} onClose={importing.close} />}
    </>
  );
}
