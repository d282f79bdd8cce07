import { Link } from '@tanstack/react-router';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import type { ApplicationOrderField, ApplicationType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { valuesOf } from '../lists/address.ts';
import { rowLink } from '../lists/data-table.tsx';
import { ListPage, orderIn, pageIn } from '../lists/list-page.tsx';
import { useOpenInAddress } from '../lists/open-in-address.ts';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { CreateApplicationDialog } from './create-application.tsx';
import { Applications } from './documents.ts';
import { applicationMessages } from './messages.ts';
import { applicationTypes } from './types.ts';

/** All applications. */
export function ApplicationsPage() {
  const t = useMessages(applicationMessages);
  const canWrite = useCan('applications:write');
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
        document={Applications}
        variables={(address) => ({
          ...pageIn(address),
          orderBy: orderIn<ApplicationOrderField>(address),
          filter: {
            search: address['search'],
            types: address['types'] ? (valuesOf(address, 'types') as ApplicationType[]) : undefined,
            allowTokenExchange: address['exchange'] ? address['exchange'] === 'on' : undefined,
          },
        })}
        connection={({ applications }) => applications}
        columns={[
          {
            id: 'name',
            header: t.name,
            orderBy: 'NAME',
            cell: ({ id, name }) => (
              <Link to="/applications/$id" params={{ id }} className={rowLink}>
                {name}
              </Link>
            ),
          },
          {
            id: 'type',
            header: t.type,
            isNarrow: true,
            from: 'medium',
            cell: ({ type }) => t.types[type],
          },
          {
            id: 'exchange',
            header: t.exchange,
            isNarrow: true,
            cell: ({ allowTokenExchange }) =>
              allowTokenExchange ? (
                <Badge tone="good" hasDot>
                  {t.allowed}
                </Badge>
              ) : (
                <Badge>{t.off}</Badge>
              ),
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
            name: 'types',
            label: t.type,
            options: applicationTypes.map((value) => ({ value, label: t.types[value] })),
          },
          {
            name: 'exchange',
            label: t.exchange,
            isSingle: true,
            options: [
              { value: 'on', label: t.allowed },
              { value: 'off', label: t.notAllowed },
            ],
          },
        ]}
        empty={
          <EmptyState icon="applications" title={t.emptyTitle} action={create}>
            {t.emptyText}
          </EmptyState>
        }
      />
      {canWrite && <CreateApplicationDialog isOpen={creation.isOpen} onClose={creation.close} />}
    </>
  );
}
