import { useEffect, useState } from 'react';
import type { DeliveryByIdQuery } from '../../generated/graphql.ts';
import { send } from '../../kit/api/send.ts';
import { CopyBlock, CopyId } from '../../kit/controls/copy.tsx';
import { CopyAs } from '../../kit/controls/copy-as.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { DialogFooter } from '../../kit/dialogs/dialog.tsx';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import { Properties, Property } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { Loading } from '../../kit/states/loading.tsx';
import { DeliveryById, Redeliver, type ShownWebhook } from '../documents.ts';
import { webhookMessages } from '../messages.ts';
import styles from '../webhooks.module.css';
import { AnswerCode, RedeliverButton, Status } from './delivery-parts.tsx';

type Delivery = Extract<DeliveryByIdQuery['node'], { __typename: 'Delivery' }>;

/** One delivery with its request and all answers. It is reloaded as it changes. */
export function DeliveryDetail({
  id,
  changedAt,
  webhook,
}: {
  id: string;
  changedAt: string | undefined;
  webhook: ShownWebhook;
}) {
  const t = useMessages(webhookMessages);
  const canWrite = useCan('webhooks:write');
  const delivery = useDelivery(id, changedAt);
  if (delivery === undefined) return <Loading lines={4} />;
  if (delivery === null) return <p>{t.goneDelivery}</p>;
  return (
    <>
      <div className={styles.detail}>
        <Properties>
          <Property name={t.state}>
            <Status status={delivery.status} />
          </Property>
          <Property name={t.delivery}>
            <CopyId id={delivery.id} />
          </Property>
          <Property name={t.time}>
            <Time at={delivery.createdAt} />
          </Property>
          {delivery.nextAttemptAt && (
            <Property name={t.nextAttempt}>
              {webhook.enabled ? <Time at={delivery.nextAttemptAt} /> : t.waits}
            </Property>
          )}
        </Properties>
        <Attempts delivery={delivery} />
        <Request delivery={delivery} webhook={webhook} />
      </div>
      {canWrite && (
        <DialogFooter start={<CopyAs document={Redeliver} input={{ deliveryId: id }} />}>
          <RedeliverButton delivery={delivery} />
        </DialogFooter>
      )}
    </>
  );
}

function Attempts({ delivery: { attempts } }: { delivery: Delivery }) {
  const t = useMessages(webhookMessages);
  const format = useFormat();
  return (
    <section>
      <h3>{t.attempts}</h3>
      {attempts.length === 0 ? (
        <p className={styles.muted}>{t.noAttempt}</p>
      ) : (
        <ol className={styles.attemptList}>
          {attempts.map(({ at, durationMs, statusCode, error, responseBody }, index) => (
            <li key={at} className={styles.attempt}>
              <div className={styles.attemptHead}>
                <strong>{t.attemptNumber(index + 1)}</strong>
                <AnswerCode statusCode={statusCode} />
                <span className={styles.small}>
                  {format.exact(at)} · {t.tookMs(durationMs)}
                </span>
              </div>
              {error && <p className={styles.problem}>{error}</p>}
              {responseBody ? (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: a long answer scrolls by keyboard too.
                <pre className={styles.answer} tabIndex={0} role="group" aria-label={t.answer}>
                  {responseBody}
                </pre>
              ) : (
                statusCode && <p className={styles.small}>{t.emptyAnswer}</p>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Request({ delivery, webhook }: { delivery: Delivery; webhook: ShownWebhook }) {
  const t = useMessages(webhookMessages);
  const { event } = delivery;
  return (
    <section className={styles.request}>
      <h3>{t.request}</h3>
      <CopyBlock label={t.request} text={headOf(delivery, webhook)} />
      {!event && <p className={styles.small}>{t.bodyHidden}</p>}
      {event && webhook.query && <p className={styles.small}>{t.bodyOfQuery}</p>}
      {event && <CopyBlock label={t.body} text={bodyOf(event)} />}
    </section>
  );
}

const headOf = ({ event, isTest }: Delivery, webhook: ShownWebhook): string =>
  [
    `POST ${webhook.url}`,
    ...webhook.headers.map((name) => `${name}: …`),
    'content-type: application/json',
    'user-agent: Signet-Webhooks/1',
    ...(isTest ? ['signet-test: true'] : []),
    `webhook-id: ${event?.id ?? '…'}`,
    'webhook-timestamp: …',
    'webhook-signature: v1,…',
  ].join('\n');

const bodyOf = ({ id, name, occurredAt, actor, data }: NonNullable<Delivery['event']>): string => {
  const { type, id: actorId, clientId } = actor ?? {};
  const message = {
    id,
    type: name,
    timestamp: occurredAt,
    actor: actor && { type, id: actorId, clientId },
    data,
  };
  return JSON.stringify(message, null, 2);
};

/** A delivery with its answers; null if it is gone. */
function useDelivery(id: string, changedAt: string | undefined) {
  const canReadEvents = useCan('events:read');
  const [delivery, setDelivery] = useState<Delivery | null>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again as it changes.
  useEffect(() => {
    const ended = new AbortController();
    send(DeliveryById, { id, canReadEvents }, ended.signal)
      .then(({ node }) => setDelivery(node?.__typename === 'Delivery' ? node : null))
      .catch(() => {
        if (!ended.signal.aborted) setDelivery((before) => before ?? null);
      });
    return () => ended.abort();
  }, [id, changedAt, canReadEvents]);
  return delivery?.id === id || delivery === null ? delivery : undefined;
}
