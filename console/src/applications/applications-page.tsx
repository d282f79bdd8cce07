import type {
  ApplicationOrderField,
  ApplicationOrigin,
  ApplicationType,
} from '../generated/graphql.ts';
import { valuesOf } from '../kit/address.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { useCreation } from '../kit/lists/creation.tsx';
import { byCreation } from '../kit/lists/data-table.tsx';
import { ListPage, orderIn, pageIn } from '../kit/lists/list-page.tsx';
import { NamedRowLink } from '../kit/lists/row-link.tsx';
import { useCan } from '../kit/session/session.ts';
import { agentMessages } from './agents/messages.ts';
import { ownOrigins } from './agents/origin.tsx';
import { CreateApplicationDialog } from './create-application.tsx';
import { Applications } from './documents.ts';
import { applicationMessages } from './messages.ts';
import { applicationTypes } from './types.ts';

/** All applications. */
export function ApplicationsPage() {
  const t = useMessages(applicationMessages);
  const agentTexts = useMessages(agentMessages);
  const canWrite = useCan('applications:write');
  const creation = useCreation({
    icon: 'applications',
    texts: t,
    isAllowed: canWrite,
    Dialog: CreateApplicationDialog,
  });
  return (
    <>
      <ListPage
        heading={t.heading}
        lead={t.lead}
        action={creation.action}
        document={Applications}
        variables={(address) => ({
          ...pageIn(address),
          orderBy: orderIn<ApplicationOrderField>(address),
          filter: {
            search: address['search'],
            types: address['types'] ? (valuesOf(address, 'types') as ApplicationType[]) : undefined,
            origins: address['origin']
              ? (valuesOf(address, 'origin') as ApplicationOrigin[])
              : undefined,
            allowTokenExchange: address['exchange'] ? address['exchange'] === 'on' : undefined,
          },
        })}
        connection={({ applications }) => applications}
        columns={[
          {
            id: 'name',
            header: t.name,
            orderBy: 'NAME',
            cell: (row) => <NamedRowLink to="/applications/$id" of={row} />,
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
          { ...byCreation, header: t.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        filters={[
          {
            name: 'types',
            label: t.type,
            options: applicationTypes.map((value) => ({ value, label: t.types[value] })),
          },
          {
            name: 'origin',
            label: agentTexts.origin,
            options: (['ADMINISTRATION', ...ownOrigins] as const).map((value) => ({
              value,
              label: agentTexts.origins[value],
            })),
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
        empty={creation.empty}
      />
      {creation.dialog}
    </>
  );
}
