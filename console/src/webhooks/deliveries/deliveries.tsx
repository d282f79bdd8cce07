import { useMemo } from 'react';
import { eventMessages } from '../../events/messages.ts';
import { EventSubject } from '../../events/parts.tsx';
import type { DeliveryStatus, EventType } from '../../generated/graphql.ts';
import { useAddress, valuesOf } from '../../kit/address.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Button } from '../../kit/controls/button.tsx';
import { classes } from '../../kit/controls/classes.ts';
import { CopyAs } from '../../kit/controls/copy-as.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { Dialog } from '../../kit/dialogs/dialog.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { aboveRowLink, DataTable, rowLink } from '../../kit/lists/data-table.tsx';
import { Filter } from '../../kit/lists/filter.tsx';
import { useLiveList } from '../../kit/lists/live-list.ts';
import { useCan } from '../../kit/session/session.ts';
import { Loading } from '../../kit/states/loading.tsx';
import { EmptyState } from '../../kit/states/state.tsx';
import { type ListedDelivery, type ShownWebhook, TestWebhook } from '../documents.ts';
import { groupsOfTypes, nameOfType } from '../event-types.ts';
import { webhookMessages } from '../messages.ts';
import styles from '../webhooks.module.css';
import { DeliveryDetail } from './delivery-detail.tsx';
import { DeliveryLog } from './delivery-log.ts';
import { AnswerCode, RedeliverButton, Status } from './delivery-parts.tsx';

/** A webhook's deliveries, live. */
export function Deliveries({ webhook }: { webhook: ShownWebhook }) {
  const t = useMessages(webhookMessages);
  const { groups } = useMessages(eventMessages);
  const { address, change } = useAddress();
  const canWrite = useCan('webhooks:write');
  const types = valuesOf(address, 'types');
  const { log, state } = useDeliveryLog(webhook.id, address['status'], types);
  const isFiltered = Boolean(address['status']) || types.length > 0;
  const opened = address['delivery'];
  const row = state.rows.find(({ id }) => id === opened);
  return (
    <>
      <div className={styles.tools}>
        <Filter
          label={t.state}
          isSingle
          groups={[
            {
              options: (['PENDING', 'SUCCEEDED', 'FAILED'] as const).map((value) => ({
                value,
                label: t.statuses[value],
              })),
            },
          ]}
          chosen={valuesOf(address, 'status')}
          onChange={(chosen) => change({ status: chosen.join(',') })}
        />
        <Filter
          label={t.types}
          groups={groupsOfTypes(groups)}
          chosen={types}
          onChange={(chosen) => change({ types: chosen.join(',') })}
        />
        {isFiltered && (
          <Button kind="quiet" onClick={() => change({ status: undefined, types: undefined })}>
            {t.clear}
          </Button>
        )}
        {canWrite && (
          <span className={styles.toolsEnd}>
            <span className={styles.small}>{t.testAs}</span>
            <CopyAs document={TestWebhook} input={{ id: webhook.id }} />
          </span>
        )}
      </div>
      {state.rows.length === 0 && state.phase === 'loading' && <Loading />}
      {state.rows.length === 0 && state.phase === 'failed' && (
        <div role="alert">
          <EmptyState icon="warning" title={t.failedTitle}>
            {t.failedText}
          </EmptyState>
        </div>
      )}
      {state.rows.length === 0 && state.phase === 'ready' && (
        <EmptyState icon="webhooks" title={isFiltered ? t.nothingFitsTitle : t.noDeliveriesTitle}>
          {isFiltered ? t.nothingFitsText : t.noDeliveriesText}
        </EmptyState>
      )}
      {state.rows.length > 0 && (
        <>
          <DataTable
            label={t.listLabel}
            rows={state.rows}
            columns={[
              {
                id: 'event',
                header: t.event,
                cell: ({ id, eventType, isTest, event, createdAt }) => (
                  <span className={styles.what}>
                    <button
                      type="button"
                      className={classes(rowLink, styles.pick)}
                      onClick={() => change({ delivery: id })}
                    >
                      {nameOfType(eventType)
                        .split(/(?=\.)/)
                        .flatMap((part) => [part, <wbr key={part} />])}
                    </button>
                    {isTest && <Badge>{t.isTest}</Badge>}
                    <span className={styles.about}>
                      {event && (
                        <span className={classes(styles.subject, aboveRowLink)}>
                          <EventSubject event={event} />
                        </span>
                      )}
                      <span className={styles.timeInRow}>
                        <Time at={createdAt} as="soon" />
                      </span>
                    </span>
                  </span>
                ),
              },
              {
                id: 'status',
                header: t.state,
                isNarrow: true,
                cell: ({ status }) => <Status status={status} />,
              },
              {
                id: 'attempts',
                header: t.attempts,
                from: 'medium',
                cell: (delivery) => <Tries delivery={delivery} />,
              },
              {
                id: 'next',
                header: t.nextAttempt,
                from: 'wide',
                isNarrow: true,
                cell: ({ nextAttemptAt }) =>
                  nextAttemptAt && (webhook.enabled ? <Time at={nextAttemptAt} /> : t.waits),
              },
              {
                id: 'time',
                header: t.time,
                from: 'wide',
                isNarrow: true,
                cell: ({ createdAt }) => <Time at={createdAt} />,
              },
              {
                id: 'redeliver',
                header: '',
                isNarrow: true,
                cell: (delivery) =>
                  canWrite && (
                    <span className={aboveRowLink}>
                      <RedeliverButton delivery={delivery} isSmall />
                    </span>
                  ),
              },
            ]}
          />
          {state.hasOlder && (
            <div className={styles.older}>
              <Button onClick={() => void log.loadOlder()}>{t.older}</Button>
            </div>
          )}
        </>
      )}
      <Dialog
        title={row ? nameOfType(row.eventType) : t.delivery}
        isOpen={opened !== undefined}
        onClose={() => change({ delivery: undefined })}
        size="wide"
      >
        {opened && <DeliveryDetail id={opened} changedAt={row?.updatedAt} webhook={webhook} />}
      </Dialog>
    </>
  );
}

function useDeliveryLog(webhookId: string, status: string | undefined, types: readonly string[]) {
  const canReadEvents = useCan('events:read');
  const key = types.join(',');
  const log = useMemo(
    () =>
      new DeliveryLog(webhookId, {
        ...(status ? { status: status as DeliveryStatus } : {}),
        types: key.split(',').filter(Boolean) as EventType[],
        canReadEvents,
      }),
    [webhookId, status, key, canReadEvents],
  );
  return { log, state: useLiveList(log) };
}

const shownAttempts = 4;

/** The last attempts of a delivery with their statuses. */
function Tries({ delivery: { attempts } }: { delivery: ListedDelivery }) {
  const t = useMessages(webhookMessages);
  if (attempts.length === 0) return <span className={styles.muted}>{t.noAttempt}</span>;
  return (
    <span className={styles.tries}>
      {attempts.length > shownAttempts && <Badge>{attempts.length - shownAttempts} +</Badge>}
      {attempts.slice(-shownAttempts).map((attempt) => (
        <AnswerCode key={attempt.at} {...attempt} />
      ))}
    </span>
  );
}
