import { useAddress } from '../kit/address.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { useMessages } from '../kit/language/language.ts';
import { List, pageIn } from '../kit/lists/list-page.tsx';
import { RowLink } from '../kit/lists/row-link.tsx';
import { Page } from '../kit/records/page.tsx';
import { shownName } from '../kit/records/shown-name.ts';
import { Failed } from '../kit/states/failed.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { EmptyState } from '../kit/states/state.tsx';
import { WhoCan } from './documents.ts';
import { useMayAsk } from './may-ask.ts';
import { permissionMessages } from './messages.ts';
import { Sources } from './sources.tsx';
import { TargetPickers, useAskedApi } from './target-pickers.tsx';

/** Who can do something at an API. */
export function WhoCanPage() {
  const t = useMessages(permissionMessages);
  const mayAsk = useMayAsk();
  return (
    <Page heading={t.heading} lead={t.lead}>
      {mayAsk ? (
        <>
          <TargetPickers hasScope />
          <Holders />
        </>
      ) : (
        <EmptyState icon="roles" title={t.notAllowedTitle}>
          {t.notAllowedText}
        </EmptyState>
      )}
    </Page>
  );
}

function Holders() {
  const t = useMessages(permissionMessages);
  const { address } = useAddress();
  const { api, error, refetch } = useAskedApi();
  const { scope } = address;
  if (!address['api'] || !scope) {
    return (
      <EmptyState icon="roles" title={t.chooseTitle}>
        {t.chooseText}
      </EmptyState>
    );
  }
  if (error) return <Failed error={error} onRetry={refetch} />;
  if (api === undefined) return <Loading />;
  if (api === null) {
    return (
      <EmptyState icon="apis" title={t.unknownApi}>
        {t.unknownApiText}
      </EmptyState>
    );
  }
  return (
    <List
      label={t.heading}
      hasSearch={false}
      document={WhoCan}
      variables={(asked) => ({
        resource: api.indicator,
        scope,
        organizationId: asked['organization'],
        ...pageIn(asked),
      })}
      connection={({ whoCan: { edges, pageInfo } }) => ({
        edges: edges.map(({ node }) => ({ node: { id: node.subjectId, ...node } })),
        pageInfo,
      })}
      columns={[
        {
          id: 'holder',
          header: t.holder,
          cell: ({ id, subject }) =>
            subject.__typename === 'User' ? (
              <RowLink to="/users/$id" id={id}>
                {shownName(subject)}
              </RowLink>
            ) : (
              <RowLink to="/applications/$id" id={id}>
                {subject.applicationName}
              </RowLink>
            ),
        },
        {
          id: 'kind',
          header: t.kind,
          isNarrow: true,
          from: 'medium',
          cell: ({ subject }) => <Badge>{t.kinds[subject.__typename]}</Badge>,
        },
        {
          id: 'sources',
          header: t.because,
          wraps: true,
          cell: ({ sources }) => <Sources sources={sources} />,
        },
      ]}
      empty={
        <EmptyState icon="roles" title={t.nobodyTitle}>
          {t.nobodyText}
        </EmptyState>
      }
    />
  );
}
