import type {
  AgentsQuery,
  ApplicationOrderField,
  ApplicationOrigin,
} from '../../generated/graphql.ts';
import { valuesOf } from '../../kit/address.ts';
import { useData } from '../../kit/api/use-data.ts';
import { ButtonLink } from '../../kit/controls/button.tsx';
import { Time } from '../../kit/controls/time.tsx';
import { ConfirmAction } from '../../kit/dialogs/confirm-action.tsx';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import { aboveRowLink, byCreation, type Column } from '../../kit/lists/data-table.tsx';
import { List, orderIn, pageIn } from '../../kit/lists/list-page.tsx';
import { NamedRowLink } from '../../kit/lists/row-link.tsx';
import { useCan } from '../../kit/session/session.ts';
import { EmptyState } from '../../kit/states/state.tsx';
import { toast } from '../../kit/toasts.ts';
import { DeleteApplication } from '../documents.ts';
import styles from './agents.module.css';
import { Admission, Agents } from './documents.ts';
import { agentMessages } from './messages.ts';
import { hostsOf, Origin, ownOrigins } from './origin.tsx';

type Row = AgentsQuery['applications']['edges'][number]['node'];

/** The applications that no administrator has created. */
export function AgentList() {
  const t = useMessages(agentMessages);
  const format = useFormat();
  const canWrite = useCan('applications:write');
  const seesPeople = useCan('users:read');
  const people: Column<Row>[] = seesPeople
    ? [
        {
          id: 'people',
          header: t.people,
          isNarrow: true,
          from: 'medium',
          cell: ({ grants }) => format.number(grants?.totalCount ?? 0),
        },
      ]
    : [];
  return (
    <List
      label={t.heading}
      document={Agents}
      variables={(address) => ({
        ...pageIn(address),
        orderBy: orderIn<ApplicationOrderField>(address),
        seesPeople,
        filter: {
          search: address['search'],
          origins: address['origin']
            ? (valuesOf(address, 'origin') as ApplicationOrigin[])
            : [...ownOrigins],
        },
      })}
      connection={({ applications }) => applications}
      columns={[
        {
          id: 'name',
          header: t.name,
          orderBy: 'NAME',
          wraps: true,
          cell: (row) => (
            <span className={styles.app}>
              <NamedRowLink to="/applications/$id" of={row} />
              <span className={styles.host}>{format.list(hostsOf(row))}</span>
            </span>
          ),
        },
        {
          id: 'origin',
          header: t.origin,
          isNarrow: true,
          from: 'medium',
          cell: ({ origin }) => <Origin origin={origin} />,
        },
        ...people,
        {
          id: 'lastUsed',
          header: t.lastUsed,
          isNarrow: true,
          from: 'medium',
          cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} as="ago" /> : t.never),
        },
        { ...byCreation, header: t.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          id: 'delete',
          header: '',
          isNarrow: true,
          cell: ({ id, name, origin }) =>
            canWrite && (
              <span className={aboveRowLink}>
                <ConfirmAction
                  label={t.delete}
                  title={t.deleteTitle(name)}
                  text={`${t.deleteText} ${origin === 'METADATA_DOCUMENT' ? t.deleteDocument : t.deleteRegistered}`}
                  document={DeleteApplication}
                  input={{ id }}
                  onDone={() => toast.done(t.deleted(name))}
                  kind="danger"
                  size="small"
                />
              </span>
            ),
        },
      ]}
      filters={[
        {
          name: 'origin',
          label: t.origin,
          isSingle: true,
          options: ownOrigins.map((value) => ({ value, label: t.origins[value] })),
        },
      ]}
      empty={<NoAgents />}
    />
  );
}

/** Why there is none: nobody may come in, or nobody has come yet. */
function NoAgents() {
  const t = useMessages(agentMessages);
  const canWrite = useCan('applications:write');
  const { data } = useData(Admission, {});
  const policy = data?.serviceSettings.clientRegistration;
  const isClosed = policy?.metadataDocuments === 'OFF' && policy.dynamic === 'OFF';
  return (
    <EmptyState
      icon="agents"
      title={isClosed ? t.closedTitle : t.emptyTitle}
      action={
        isClosed &&
        canWrite && (
          <ButtonLink kind="primary" to="/agents" search={{ tab: 'admission' }}>
            {t.chooseWho}
          </ButtonLink>
        )
      }
    >
      {isClosed ? t.closedText : t.emptyText}
    </EmptyState>
  );
}
