import { Link } from '@tanstack/react-router';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import type { ResourceOrderField } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { rowLink } from '../lists/data-table.tsx';
import { ListPage, orderIn, pageIn } from '../lists/list-page.tsx';
import { useOpenInAddress } from '../lists/open-in-address.ts';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { CreateApiDialog } from './create-api.tsx';
import { Apis } from './documents.ts';
import { isOwn, useLifetime } from './lifetime.ts';
import { apiPageMessages } from './messages.ts';

/** All APIs; the schema calls them resources. */
export function ApisPage() {
  const t = useMessages(apiPageMessages);
  const lifetime = useLifetime();
  const canWrite = useCan('resources:write');
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
        document={Apis}
        variables={(address) => ({
          ...pageIn(address),
          orderBy: orderIn<ResourceOrderField>(address),
          filter: { search: address['search'] },
        })}
        connection={({ resources }) => resources}
        columns={[
          {
            id: 'name',
            header: t.name,
            orderBy: 'NAME',
            cell: ({ id, name }) => (
              <Link to="/apis/$id" params={{ id }} className={rowLink}>
                {name}
              </Link>
            ),
          },
          {
            id: 'indicator',
            header: t.indicator,
            from: 'medium',
            cell: ({ indicator }) => <code>{indicator}</code>,
          },
          {
            id: 'own',
            header: '',
            isNarrow: true,
            from: 'wide',
            cell: ({ indicator }) => isOwn(indicator) && <Badge>{t.own}</Badge>,
          },
          {
            id: 'lifetime',
            header: t.lifetime,
            isNarrow: true,
            cell: ({ accessTokenTtlSeconds }) => lifetime(accessTokenTtlSeconds),
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
        empty={
          <EmptyState icon="apis" title={t.emptyTitle} action={create}>
            {t.emptyText}
          </EmptyState>
        }
      />
      {canWrite && <CreateApiDialog isOpen={creation.isOpen} onClose={creation.close} />}
    </>
  );
}
