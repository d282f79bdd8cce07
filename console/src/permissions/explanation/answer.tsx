import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type {
  ExchangeRule,
  ExplainTokenExchangeQuery,
  ExplainTokenExchangeQueryVariables,
} from '../../generated/graphql.ts';
import { useData } from '../../kit/api/use-data.ts';
import { Badge } from '../../kit/controls/badge.tsx';
import { Notice } from '../../kit/controls/notice.tsx';
import { useFormat } from '../../kit/language/format.ts';
import { useMessages } from '../../kit/language/language.ts';
import { DataTable } from '../../kit/lists/data-table.tsx';
import { Failed } from '../../kit/states/failed.tsx';
import { Cure } from './cure.tsx';
import { ExplainTokenExchange } from './documents.ts';
import styles from './explanation.module.css';
import { explanationMessages } from './messages.ts';

type Explanation = ExplainTokenExchangeQuery['explainTokenExchange'];
type ExplainedScope = Explanation['scopes'][number];

/** What an exchange would grant, and which rules and roles decide it; what fails comes first. */
export function Answer({ variables }: { variables: ExplainTokenExchangeQueryVariables }) {
  const t = useMessages(explanationMessages);
  const format = useFormat();
  const { data, error, isFetching, refetch } = useData(ExplainTokenExchange, variables);
  if (error) return <Failed error={error} onRetry={refetch} />;
  if (!data) return null;
  const {
    isGranted,
    error: code,
    errorDescription,
    expiresIn,
    rules,
    scopes,
  } = data.explainTokenExchange;
  const ruleTable = (
    <DataTable
      label={t.rules}
      isStale={isFetching}
      rows={rules
        .filter(({ rule, isMet }) => isMet !== true || isAskedAbout(rule, variables))
        .toSorted((one, other) => rankOf(one.isMet) - rankOf(other.isMet))
        .map(({ rule, isMet }) => ({ id: rule, isMet }))}
      columns={[
        {
          id: 'rule',
          header: t.rule,
          wraps: true,
          cell: ({ id }) => t.ruleTexts[id as ExchangeRule],
        },
        {
          id: 'result',
          header: t.result,
          isNarrow: true,
          cell: ({ id, isMet }) => (
            <span className={styles.result}>
              <RuleBadge isMet={isMet ?? null} />
              {isMet === false && <Cure rule={id as ExchangeRule} asked={variables} />}
            </span>
          ),
        },
      ]}
    />
  );
  return (
    <div className={styles.answer} aria-live="polite">
      {isGranted ? (
        <Notice tone="good" title={t.granted}>
          {expiresIn != null && t.livesAtMost(format.duration(expiresIn))}
        </Notice>
      ) : (
        <Notice tone="bad" title={t.refused}>
          <code>{code}</code>: {errorDescription}
        </Notice>
      )}
      {isGranted ? null : ruleTable}
      <DataTable
        label={t.scopes}
        isStale={isFetching}
        rows={scopes.map((scope) => ({ id: scope.name, scope }))}
        columns={[
          { id: 'scope', header: t.scope, cell: ({ id }) => <code>{id}</code> },
          {
            id: 'outcome',
            header: t.result,
            isNarrow: true,
            cell: ({ scope: { outcome } }) => (
              <Badge tone={outcome === 'GRANTED' ? 'good' : 'warn'}>{t.outcomes[outcome]}</Badge>
            ),
          },
          { id: 'by', header: t.because, cell: ({ scope }) => <Sources scope={scope} /> },
        ]}
      />
      {scopes.some(({ outcome }) => outcome === 'NOT_HELD' || outcome === 'HELD_ELSEWHERE') && (
        <p className={styles.about}>
          <Link to="/users/$id" params={{ id: String(variables.userId) }} search={{ tab: 'roles' }}>
            {t.giveRole}
          </Link>
        </p>
      )}
      {scopes.length === 0 && <p className={styles.about}>{t.noScopes}</p>}
      {isGranted && ruleTable}
    </div>
  );
}

// The scopes are always those of the API, and there may be no organization.
const isAskedAbout = (
  rule: ExchangeRule,
  { organizationId }: ExplainTokenExchangeQueryVariables,
): boolean => rule !== 'SCOPE_GRAMMAR' && (rule !== 'ORGANIZATION' || organizationId != null);

// What fails, then what depends on the token, then what is met.
const rankOf = (isMet: boolean | null | undefined): number =>
  isMet === false ? 0 : isMet === true ? 2 : 1;

function RuleBadge({ isMet }: { isMet: boolean | null }) {
  const t = useMessages(explanationMessages);
  if (isMet === null) return <Badge tone="warn">{t.depends}</Badge>;
  return isMet ? <Badge tone="good">{t.met}</Badge> : <Badge tone="bad">{t.broken}</Badge>;
}

function Sources({ scope: { outcome, sources } }: { scope: ExplainedScope }): ReactNode {
  const t = useMessages(explanationMessages);
  if (sources.length === 0) return outcome === 'GRANTED' ? t.everybody : t.noRole;
  return sources
    .map(({ role, organizationRole, organization }) =>
      organizationRole && organization
        ? t.inOrganization(organizationRole.name, organization.name)
        : role?.name,
    )
    .filter(Boolean)
    .join(', ');
}
