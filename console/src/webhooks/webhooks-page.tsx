import type { WebhookOrderField } from '../generated/graphql.ts';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { useCreation } from '../kit/lists/creation.tsx';
import { byCreation } from '../kit/lists/data-table.tsx';
import { ListPage, orderIn, pageIn } from '../kit/lists/list-page.tsx';
import { NamedRowLink } from '../kit/lists/row-link.tsx';
import { useCan } from '../kit/session/session.ts';
import { CreateWebhookDialog } from './create-webhook.tsx';
import { Webhooks } from './documents.ts';
import { webhookMessages } from './messages.ts';
import { StateOf } from './state-of.tsx';

/** All webhooks. */
export function WebhooksPage() {
  const t = useMessages(webhookMessages);
  const mayWrite = useCan('webhooks:write');
  const mayRead = useCan('events:read');
  const canCreate = mayWrite && mayRead;
  const creation = useCreation({
    icon: 'webhooks',
    texts: t,
    isAllowed: canCreate,
    Dialog: CreateWebhookDialog,
  });
  return (
    <>
      <ListPage
        heading={t.heading}
        lead={t.lead}
        action={creation.action}
        document={Webhooks}
        variables={(address) => ({
          ...pageIn(address),
          orderBy: orderIn<WebhookOrderField>(address),
          filter: {
            search: address['search'],
            enabled: address['enabled'] ? address['enabled'] === 'true' : undefined,
          },
        })}
        connection={({ webhooks }) => webhooks}
        columns={[
          {
            id: 'name',
            header: t.name,
            orderBy: 'NAME',
            cell: (row) => <NamedRowLink to="/webhooks/$id" of={row} />,
          },
          {
            id: 'url',
            header: t.url,
            from: 'medium',
            cell: ({ url }) => String(url),
          },
          {
            id: 'types',
            header: t.types,
            from: 'wide',
            isNarrow: true,
            cell: ({ events }) => (events.length === 0 ? t.allTypes : t.someTypes(events.length)),
          },
          {
            id: 'state',
            header: t.state,
            isNarrow: true,
            cell: (webhook) => <StateOf {...webhook} />,
          },
          { ...byCreation, header: t.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        filters={[
          {
            name: 'enabled',
            label: t.state,
            isSingle: true,
            options: [
              { value: 'true', label: t.enabled },
              { value: 'false', label: t.disabled },
            ],
          },
        ]}
        empty={creation.empty}
      />
      {creation.dialog}
    </>
  );
}
