import type { ResourceOrderField } from '../generated/graphql.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { useCreation } from '../kit/lists/creation.tsx';
import { byCreation } from '../kit/lists/data-table.tsx';
import { ListPage, orderIn, pageIn } from '../kit/lists/list-page.tsx';
import { NamedRowLink } from '../kit/lists/row-link.tsx';
import { useCan } from '../kit/session/session.ts';
import { CreateApiDialog } from './create-api.tsx';
import { Apis } from './documents.ts';
import { isOwn } from './lifetime.ts';
import { apiPageMessages } from './messages.ts';

/** All APIs; the schema calls them resources. */
export function ApisPage() {
  const t = useMessages(apiPageMessages);
  const format = useFormat();
  const canWrite = useCan('resources:write');
  const creation = useCreation({
    icon: 'apis',
    texts: t,
    isAllowed: canWrite,
    Dialog: CreateApiDialog,
  });
  return (
    <>
      <ListPage
        heading={t.heading}
        lead={t.lead}
        action={creation.action}
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
            cell: (row) => <NamedRowLink to="/apis/$id" of={row} />,
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
            cell: ({ accessTokenTtlSeconds }) => format.duration(accessTokenTtlSeconds),
          },
          { ...byCreation, header: t.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        empty={creation.empty}
      />
      {creation.dialog}
    </>
  );
}
