import { Link } from '@tanstack/react-router';
import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import type { WebhookOrderField } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { rowLink } from '../lists/data-table.tsx';
import { ListPage, orderIn, pageIn } from '../lists/list-page.tsx';
import { useOpenInAddress } from '../lists/open-in-address.ts';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import { CreateWebhookDialog } from './create-webhook.tsx';
import { Webhooks } from './documents.ts';
import { webhookMessages } from './messages.ts';
import { StateOf } from './state-of.tsx';
import styles from './webhooks.module.css';

/** All webhooks. */
export function WebhooksPage() {
  const t = useMessages(webhookMessages);
  const mayWrite = useCan('webhooks:write');
  const mayRead = useCan('events:read');
  const canCreate = mayWrite && mayRead;
  const creation = useOpenInAddress('create');
  const create = canCreate && (
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
            cell: ({ id, name }) => (
              <Link to="/webhooks/$id" params={{ id }} className={rowLink}>
                {name}
              </Link>
            ),
          },
          {
            id: 'url',
            header: t.url,
            from: 'medium',
            cell: ({ url }) => <span className={styles.url}>{url}</span>,
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
          {
            id: 'createdAt',
            header: t.createdAt,
            orderBy: 'CREATED_AT',
            from: 'wide',
            isNarrow: true,
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
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
        empty={
          <EmptyState icon="webhooks" title={t.emptyTitle} action={create}>
            {t.emptyText}
          </EmptyState>
        }
      />
      {canCreate && <CreateWebhookDialog isOpen={creation.isOpen} onClose={creation.close} />}
    </>
  );
}
