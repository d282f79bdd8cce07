import { useState } from 'react';
import { send } from '../api/send.ts';
import { useData } from '../api/use-data.ts';
import { Badge } from '../controls/badge.tsx';
import { IconButton } from '../controls/button.tsx';
import { Notice } from '../controls/notice.tsx';
import { type Pick, SearchPicker } from '../controls/search-picker.tsx';
import type { ExplainExchangeQuery } from '../generated/graphql.ts';
import { useFormat } from '../language/format.ts';
import { useMessages } from '../language/language.ts';
import { DataTable } from '../lists/data-table.tsx';
import { shownName } from '../records/shown-name.ts';
import { useCan } from '../session/session.ts';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import styles from './applications.module.css';
import { ExplainExchange, SearchResources, SearchUsersToExplain } from './documents.ts';
import { applicationMessages } from './messages.ts';

type Explained = ExplainExchangeQuery['explainTokenExchange'];

/** What an exchange on behalf of one user would give, and why or why not. */
export function Explanation({ applicationId }: { applicationId: string }) {
  const t = useMessages(applicationMessages);
  const [user, setUser] = useState<Pick>();
  const [api, setApi] = useState<Pick>();
  const canAsk = [
    useCan('users:read'),
    useCan('resources:read'),
    useCan('roles:read'),
    useCan('organizations:read'),
  ];
  if (canAsk.includes(false)) return null;
  return (
    <div className={styles.apis}>
      <h3>{t.explain}</h3>
      <p className={styles.about}>{t.explainText}</p>
      <div className={styles.asked}>
        <Chosen
          label={t.explainUser}
          chosen={user}
          onChange={setUser}
          search={async (search, signal) => {
            const { users } = await send(SearchUsersToExplain, { search }, signal);
            return users.edges.map(({ node }) => ({
              key: node.id,
              text: shownName(node),
              detail: node.primaryEmail ?? node.username ?? null,
            }));
          }}
        />
        <Chosen
          label={t.explainApi}
          chosen={api}
          onChange={setApi}
          search={async (search, signal) => {
            const { resources } = await send(SearchResources, { search }, signal);
            return resources.edges.map(({ node }) => ({
              key: node.indicator,
              text: node.name,
              detail: node.indicator,
            }));
          }}
        />
      </div>
      {user && api && <Answer applicationId={applicationId} userId={user.key} resource={api.key} />}
    </div>
  );
}

function Chosen({
  label,
  chosen,
  onChange,
  search,
}: {
  label: string;
  chosen: Pick | undefined;
  onChange: (chosen: Pick | undefined) => void;
  search: (text: string, signal: AbortSignal) => Promise<readonly Pick[]>;
}) {
  const t = useMessages(applicationMessages);
  if (!chosen) return <SearchPicker label={label} search={search} onPick={onChange} />;
  return (
    <span className={styles.chip}>
      {chosen.text}
      <IconButton
        icon="close"
        size="small"
        label={t.removeApi(chosen.text)}
        onClick={() => onChange(undefined)}
      />
    </span>
  );
}

function Answer(asked: { applicationId: string; userId: string; resource: string }) {
  const { data, error, askAgain } = useData(ExplainExchange, asked);
  if (error && !data) return <Failed error={error} onRetry={askAgain} />;
  if (!data) return <Loading lines={4} />;
  return <Explained explained={data.explainTokenExchange} />;
}

function Explained({ explained }: { explained: Explained }) {
  const t = useMessages(applicationMessages);
  const format = useFormat();
  const { isGranted, error, errorDescription, expiresIn, rules, scopes } = explained;
  return (
    <div className={styles.explained} role="status">
      {isGranted ? (
        <Notice tone="good" title={t.wouldBeIssued}>
          {typeof expiresIn === 'number' && t.lasts(format.number(expiresIn))}
        </Notice>
      ) : (
        <Notice tone="bad" title={t.wouldBeRefused}>
          <code>{error}</code> {errorDescription}
        </Notice>
      )}
      <DataTable
        label={t.rules}
        rows={rules.map((rule) => ({ ...rule, id: rule.rule }))}
        columns={[
          {
            id: 'isMet',
            header: t.ruleState,
            isNarrow: true,
            cell: ({ isMet }) => <Met isMet={isMet} />,
          },
          {
            id: 'rule',
            header: t.rule,
            cell: ({ rule, isMet, errorDescription: why }) => (
              <>
                {t.ruleTexts[rule]}
                {isMet === false && <span className={styles.why}>{why}</span>}
              </>
            ),
          },
        ]}
      />
      {scopes.length > 0 && (
        <DataTable
          label={t.explainedScopes}
          rows={scopes.map((scope) => ({ ...scope, id: scope.name }))}
          columns={[
            { id: 'name', header: t.explainedScopes, cell: ({ name }) => <code>{name}</code> },
            {
              id: 'outcome',
              header: t.outcome,
              isNarrow: true,
              cell: ({ outcome }) => (
                <Badge tone={outcome === 'GRANTED' ? 'good' : 'plain'}>{t.outcomes[outcome]}</Badge>
              ),
            },
            {
              id: 'sources',
              header: t.through,
              from: 'medium',
              cell: ({ sources }) => (
                <span className={styles.chips}>
                  {sources.flatMap(({ role, organizationRole, organizationId }) => {
                    const name = role?.name ?? organizationRole?.name;
                    return name ? [<Badge key={`${name} ${organizationId}`}>{name}</Badge>] : [];
                  })}
                </span>
              ),
            },
          ]}
        />
      )}
    </div>
  );
}

function Met({ isMet }: { isMet?: boolean | null | undefined }) {
  const t = useMessages(applicationMessages);
  if (typeof isMet !== 'boolean') return <Badge>{t.depends}</Badge>;
  return <Badge tone={isMet ? 'good' : 'bad'}>{isMet ? t.met : t.broken}</Badge>;
}
