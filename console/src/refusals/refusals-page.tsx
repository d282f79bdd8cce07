import type { LoggedEvent } from '../events/documents.ts';
import { instantIn, TimeFilter } from '../events/filters/time-filter.tsx';
import { useAnyRecord } from '../events/names.ts';
import { NamedRecord } from '../events/parts.tsx';
import { useEventLog } from '../events/use-log.ts';
import type { EventType } from '../generated/graphql.ts';
import { useAddress, valuesOf } from '../kit/address.ts';
import { Button, ButtonLink } from '../kit/controls/button.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { DataTable } from '../kit/lists/data-table.tsx';
import { Filter } from '../kit/lists/filter.tsx';
import { RecordFilter } from '../kit/lists/record-filter.tsx';
import { Page } from '../kit/records/page.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { EmptyState } from '../kit/states/state.tsx';
import { explanationMessages } from '../permissions/explanation/messages.ts';
import { refusalMessages } from './messages.ts';
import styles from './refusals.module.css';

/** How many rows the list keeps. */
const keep = 500;

const kinds = ['TOKEN_REFUSED', 'SIGN_IN_FAILED'] as const satisfies readonly EventType[];

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** What was refused, newest first: failed sign-ins and refused tokens, from the log. */
export function RefusalsPage() {
  const t = useMessages(refusalMessages);
  const { address, change } = useAddress();
  const chosen = kinds.filter((kind) => valuesOf(address, 'kind').includes(kind));
  const { about } = address;
  const since = instantIn(address['since']);
  const until = instantIn(address['until']);
  const { log, state } = useEventLog(
    {
      types: chosen.length > 0 ? chosen : kinds,
      ...(about && { subjectId: about }),
      ...(since && { since }),
      ...(until && { until }),
    },
    keep,
  );
  const isFiltered = chosen.length > 0 || Boolean(about) || Boolean(since) || Boolean(until);
  return (
    <Page heading={t.heading} lead={t.lead}>
      <div className={styles.tools}>
        <Filter
          label={t.kind}
          groups={[{ options: kinds.map((value) => ({ value, label: t.kinds[value] })) }]}
          chosen={chosen}
          onChange={(values) => change({ kind: values.join(',') })}
        />
        <RecordFilter
          label={t.about}
          records={useAnyRecord()}
          chosen={about}
          onChange={(id) => change({ about: id })}
        />
        <TimeFilter
          since={since}
          until={until}
          onClear={() => change({ since: undefined, until: undefined })}
        />
        {isFiltered && (
          <Button
            kind="quiet"
            onClick={() =>
              change({ kind: undefined, about: undefined, since: undefined, until: undefined })
            }
          >
            {t.clear}
          </Button>
        )}
      </div>
      {state.rows.length > 0 ? (
        <Rows events={state.rows} />
      ) : state.phase === 'loading' ? (
        <Loading lines={8} />
      ) : (
        <EmptyState
          icon={state.phase === 'failed' ? 'warning' : 'check'}
          title={state.phase === 'failed' ? t.failedTitle : t.emptyTitle}
        >
          {state.phase === 'failed' ? t.failedText : t.emptyText}
        </EmptyState>
      )}
      {state.hasOlder && <Button onClick={() => void log.loadOlder()}>{t.older}</Button>}
    </Page>
  );
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function Rows({ events }: { events: readonly LoggedEvent[] }) {
  const t = useMessages(refusalMessages);
  return (
    <DataTable
      label={t.heading}
      rows={events}
      columns={[
        {
          id: 'time',
          header: t.time,
          isNarrow: true,
          cell: ({ occurredAt }) => <Time at={occurredAt} as="soon" />,
        },
        { id: 'why', header: t.why, wraps: true, cell: (event) => <Reason event={event} /> },
        {
          id: 'what',
          header: t.what,
          isNarrow: true,
          from: 'medium',
          cell: ({ type, data }) =>
            type === 'SIGN_IN_FAILED'
              ? t.signIn
              : data['grantType'] === exchangeGrant
                ? t.exchange
                : t.token,
        },
        {
          id: 'user',
          header: t.user,
          from: 'medium',
          cell: ({ data }) => <Named id={text(data['userId'])} />,
        },
        {
          id: 'application',
          header: t.application,
          from: 'wide',
          cell: ({ data }) => <Named id={text(data['applicationId'])} />,
        },
        { id: 'next', header: t.next, isNarrow: true, cell: (event) => <Next event={event} /> },
      ]}
    />
  );
}

const Named = ({ id }: { id: string | undefined }) => (id ? <NamedRecord id={id} /> : '—');

/** Why it was refused. */
function Reason({ event: { type, data } }: { event: LoggedEvent }) {
  const t = useMessages(refusalMessages);
  const { faults } = useMessages(explanationMessages);
  const format = useFormat();
  const { suppressed } = data;
  if (typeof suppressed === 'number' && suppressed > 0) return t.leftOut(format.number(suppressed));
  const [texts, code] =
    type === 'SIGN_IN_FAILED'
      ? [t.reasons, text(data['reason'])]
      : data['rule']
        ? [faults, text(data['rule'])]
        : [t.errors, text(data['error'])];
  return (code && (texts as Readonly<Record<string, string>>)[code]) ?? code ?? '—';
}

/** Where to look next: the explanation of an exchange, the user who cannot sign in, or the event. */
function Next({ event: { id, type, data } }: { event: LoggedEvent }) {
  const t = useMessages(refusalMessages);
  const user = text(data['userId']);
  if (type === 'TOKEN_REFUSED' && data['grantType'] === exchangeGrant)
    return (
      <ButtonLink
        size="small"
        to="/explain"
        search={{
          application: text(data['applicationId']),
          user,
          resource: text(data['resource']),
          rule: text(data['rule']),
        }}
      >
        {t.explain}
      </ButtonLink>
    );
  if (type === 'SIGN_IN_FAILED' && user)
    return (
      <ButtonLink size="small" to="/users/$id" params={{ id: user }}>
        {t.openUser}
      </ButtonLink>
    );
  return (
    <ButtonLink size="small" to="/events" search={{ event: id }}>
      {t.openEvent}
    </ButtonLink>
  );
}
