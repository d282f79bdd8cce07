import { Link } from '@tanstack/react-router';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import type { RoleOrderField, RoleType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { rowLink } from '../lists/data-table.tsx';
import { ListPage, orderIn, pageIn } from '../lists/list-page.tsx';
import { useOpenInAddress } from '../lists/open-in-address.ts';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { CreateRoleDialog } from './create-role.tsx';
import { Roles } from './documents.ts';
import { roleMessages } from './messages.ts';

/** All roles. */
export function RolesPage() {
  const t = useMessages(roleMessages);
  const canWrite = useCan('roles:write');
  const creation = useOpenInAddress('create');
  const create = canWrite && (
    <Button kind="primary" icon="plus" onClick={creation.open}>
      {t.create}
    </Button>
  );
  return (
    <>
      <ListPage
        heading={t.heading}
        lead={t.lead}
        action={create}
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
            cell: ({ id, name }) => (
              <Link to="/roles/$id" params={{ id }} className={rowLink}>
                {name}
              </Link>
            ),
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
        empty={
          <EmptyState icon="roles" title={t.emptyTitle} action={create}>
            {t.emptyText}
          </EmptyState>
        }
      />
      {canWrite && <CreateRoleDialog isOpen={creation.isOpen} onClose={creation.close} />}
    </>
  );
}
