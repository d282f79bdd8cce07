import { useParams } from '@tanstack/react-router';
import { useSubscription } from 'urql';
import { useData } from '../kit/api/use-data.ts';
import { CopyId } from '../kit/controls/copy.tsx';
import { Notice } from '../kit/controls/notice.tsx';
import { useMessages } from '../kit/language/language.ts';
import { RecordGate } from '../kit/records/record-gate.tsx';
import { RecordPage } from '../kit/records/record-page.tsx';
import { useCan } from '../kit/session/session.ts';
import { Enable, Replay, RotateSecret, SendTest } from './actions.tsx';
import { Deliveries } from './deliveries/deliveries.tsx';
import { RecoverFailed } from './deliveries/recover.tsx';
import { SuccessRate } from './deliveries/success-rate.tsx';
import { FollowWebhook, Webhook } from './documents.ts';
import { webhookMessages } from './messages.ts';
import { SettingsTab } from './settings-tab.tsx';
import { StateOf } from './state-of.tsx';
import styles from './webhooks.module.css';

/** One webhook. */
export function WebhookPage() {
  const { id } = useParams({ strict: false });
  return <WebhookRecord key={id} id={id ?? ''} />;
}

function WebhookRecord({ id }: { id: string }) {
  const t = useMessages(webhookMessages);
  const list = { to: '/webhooks', label: t.heading };
  const canWrite = useCan('webhooks:write');
  const canReadEvents = useCan('events:read');
  // The cache stores updates by id, so the page shows them.
  useSubscription({ query: FollowWebhook, variables: { id } });
  return (
    <RecordGate list={list} asked={useData(Webhook, { id })} record={({ webhook }) => webhook}>
      {(webhook) => (
        <RecordPage
          name={webhook.name}
          lead={
            <>
              <StateOf {...webhook} />
              <SuccessRate id={id} />
              <CopyId id={webhook.id} />
            </>
          }
          list={list}
          actions={
            canWrite && (
              <>
                <SendTest webhook={webhook} />
                <RecoverFailed webhook={webhook} />
                <Replay webhook={webhook} />
                <RotateSecret webhook={webhook} />
              </>
            )
          }
          tabs={[
            {
              id: 'deliveries',
              label: t.tabs.deliveries,
              content: () => (
                <>
                  {webhook.disabledReason && (
                    <div className={styles.notice}>
                      <Notice
                        tone="bad"
                        title={t.switchedOff}
                        action={canWrite && canReadEvents && <Enable id={id} />}
                      >
                        {webhook.disabledReason}
                      </Notice>
                    </div>
                  )}
                  <Deliveries webhook={webhook} />
                </>
              ),
            },
            {
              id: 'settings',
              label: t.tabs.settings,
              content: () => <SettingsTab webhook={webhook} />,
            },
          ]}
        />
      )}
    </RecordGate>
  );
}
