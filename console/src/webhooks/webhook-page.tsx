import { useParams } from '@tanstack/react-router';
import { useSubscription } from 'urql';
import { useData } from '../api/use-data.ts';
import { CopyId } from '../controls/copy.tsx';
import { Notice } from '../controls/notice.tsx';
import { useMessages } from '../language/language.ts';
import { RecordGate } from '../records/record-gate.tsx';
import { RecordPage } from '../records/record-page.tsx';
import { useCan } from '../session/session.ts';
import { Enable, Replay, RotateSecret, SendTest } from './actions.tsx';
import { Deliveries } from './deliveries.tsx';
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
  const seesEvents = useCan('events:read');
  // What comes is in the cache by its id, and so on the screen.
  useSubscription({ query: FollowWebhook, variables: { id } });
  return (
    <RecordGate list={list} asked={useData(Webhook, { id })} record={({ webhook }) => webhook}>
      {(webhook) => (
        <RecordPage
          name={webhook.name}
          lead={
            <>
              <StateOf {...webhook} />
              <CopyId id={webhook.id} />
            </>
          }
          list={list}
          actions={
            canWrite && (
              <>
                <SendTest webhook={webhook} />
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
                        action={canWrite && seesEvents && <Enable id={id} />}
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
