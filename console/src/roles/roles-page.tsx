import type { RoleOrderField, RoleType } from '../generated/graphql.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { useCreation } from '../kit/lists/creation.tsx';
import { byCreation } from '../kit/lists/data-table.tsx';
import { ListPage, orderIn, pageIn } from '../kit/lists/list-page.tsx';
import { NamedRowLink } from '../kit/lists/row-link.tsx';
import { useCan } from '../kit/session/session.ts';
import { CreateRoleDialog } from './create-role.tsx';
import { Roles } from './documents.ts';
import { roleMessages } from './messages.ts';

/** All roles. */
export function RolesPage() {
  const t = useMessages(roleMessages);
  const canWrite = useCan('roles:write');
  const creation = useCreation({
    icon: 'roles',
    texts: t,
    isAllowed: canWrite,
    Dialog: CreateRoleDialog,
  });
  return (
    <>
      <ListPage
        heading={t.heading}
        lead={t.lead}
        action={creation.action}
        document={Roles}
        variables={(address) => ({
          ...pageIn(address),
          orderBy: orderIn<RoleOrderField>(address),
          filter: {
            search: address['search'],
            type: address['type'] as RoleType | undefined,
            isDefault: address['default'] ? address['default'] === 'yes' : undefined,
          },
        })}
        connection={({ roles }) => roles}
        columns={[
          {
            id: 'name',
            header: t.name,
            orderBy: 'NAME',
            cell: (row) => <NamedRowLink to="/roles/$id" of={row} />,
          },
          {
            id: 'description',
            header: t.description,
            from: 'wide',
            cell: ({ description }) => description,
          },
          {
            id: 'type',
            header: t.type,
            isNarrow: true,
            cell: ({ type }) => t.types[type],
          },
          {
            id: 'default',
            header: t.isDefault,
            isNarrow: true,
            from: 'medium',
            cell: ({ isDefault }) => isDefault && <Badge tone="accent">{t.defaultBadge}</Badge>,
          },
          { ...byCreation, header: t.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        filters={[
          {
            name: 'type',
            label: t.type,
            isSingle: true,
            options: [
              { value: 'USER', label: t.types.USER },
              { value: 'MACHINE_TO_MACHINE', label: t.types.MACHINE_TO_MACHINE },
            ],
          },
          {
            name: 'default',
            label: t.isDefault,
            isSingle: true,
            options: [
              { value: 'yes', label: t.yes },
              { value: 'no', label: t.no },
            ],
          },
        ]}
        empty={creation.empty}
      />
      {creation.dialog}
    </>
  );
}
