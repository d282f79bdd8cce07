import { type ReactNode, useId, useState } from 'react';
import { send } from '../api/send.ts';
import { useData } from '../api/use-data.ts';
import { Badge } from '../controls/badge.tsx';
import { IconButton } from '../controls/button.tsx';
import { Notice } from '../controls/notice.tsx';
import { type Pick, SearchPicker } from '../controls/search-picker.tsx';
import type {
  ExchangeRule,
  ExplainTokenExchangeQuery,
  ExplainTokenExchangeQueryVariables,
  SubjectTokenType,
} from '../generated/graphql.ts';
import { useFormat } from '../language/format.ts';
import { useMessages } from '../language/language.ts';
import { DataTable } from '../lists/data-table.tsx';
import { shownName } from '../records/shown-name.ts';
import { useCan } from '../session/session.ts';
import { Failed } from '../states/failed.tsx';
import styles from './applications.module.css';
import {
  ExplainTokenExchange,
  SearchLimitingOrganizations,
  SearchResources,
  SearchSubjects,
} from './documents.ts';
import { explanationMessages } from './explanation-messages.ts';

type Explanation = ExplainTokenExchangeQuery['explainTokenExchange'];
type ExplainedScope = Explanation['scopes'][number];

/** Asks for a user and an API, and shows what an exchange would grant, and by which rules and roles. */
export function ExplainExchange({ applicationId }: { applicationId: string }) {
  const t = useMessages(explanationMessages);
  const areas = [
    useCan('applications:read'),
    useCan('users:read'),
    useCan('resources:read'),
    useCan('roles:read'),
    useCan('organizations:read'),
  ];
  const [user, setUser] = useState<Pick>();
  const [api, setApi] = useState<Pick>();
  const [organization, setOrganization] = useState<Pick>();
  const [subjectTokenType, setSubjectTokenType] = useState<SubjectTokenType>('ACCESS_TOKEN');
  if (!areas.every(Boolean)) return null;
  return (
    <div className={styles.apis}>
      <h3>{t.title}</h3>
      <p className={styles.about}>{t.about}</p>
      <div className={styles.question}>
        <Chosen
          label={t.user}
          placeholder={t.searchUser}
          search={searchSubjects}
          chosen={user}
          onChoose={setUser}
        />
        <Chosen
          label={t.api}
          placeholder={t.searchApi}
          search={searchApis}
          chosen={api}
          onChoose={setApi}
        />
        <Chosen
          label={t.organization}
          placeholder={t.searchOrganization}
          search={searchOrganizations}
          chosen={organization}
          onChoose={setOrganization}
        />
        <TokenTypeSelect value={subjectTokenType} onChange={setSubjectTokenType} />
      </div>
      {user && api && (
        <Answer
          variables={{
            applicationId,
            userId: user.key,
            resource: api.key,
            organizationId: organization?.key ?? null,
            subjectTokenType,
          }}
        />
      )}
    </div>
  );
}

const searchSubjects = async (search: string, signal: AbortSignal): Promise<Pick[]> => {
  const { users } = await send(SearchSubjects, { search }, signal);
  return users.edges.map(({ node }) => ({
    key: node.id,
    text: shownName(node),
    detail: node.primaryEmail ?? node.username ?? null,
  }));
};

const searchApis = async (search: string, signal: AbortSignal): Promise<Pick[]> => {
  const { resources } = await send(SearchResources, { search }, signal);
  return resources.edges.map(({ node }) => ({
    key: node.indicator,
    text: node.name,
    detail: node.indicator,
  }));
};

const searchOrganizations = async (search: string, signal: AbortSignal): Promise<Pick[]> => {
  const { organizations } = await send(SearchLimitingOrganizations, { search }, signal);
  return organizations.edges.map(({ node }) => ({
    key: node.id,
    text: node.name,
    detail: node.description ?? null,
  }));
};

function Chosen({
  label,
  placeholder,
  search,
  chosen,
  onChoose,
}: {
  label: string;
  placeholder: string;
  search: (text: string, signal: AbortSignal) => Promise<Pick[]>;
  chosen: Pick | undefined;
  onChoose: (chosen: Pick | undefined) => void;
}) {
  const t = useMessages(explanationMessages);
  return (
    <div className={styles.chosen}>
      <span className={styles.name}>{label}</span>
      {chosen ? (
        <span className={styles.chip}>
          <span>{chosen.text}</span>
          <IconButton
            icon="close"
            size="small"
            label={t.clear(chosen.text)}
            onClick={() => onChoose(undefined)}
          />
        </span>
      ) : (
        <SearchPicker label={placeholder} search={search} onPick={onChoose} />
      )}
    </div>
  );
}

function TokenTypeSelect({
  value,
  onChange,
}: {
  value: SubjectTokenType;
  onChange: (value: SubjectTokenType) => void;
}) {
  const t = useMessages(explanationMessages);
  const id = useId();
  return (
    <div className={styles.chosen}>
      <label className={styles.name} htmlFor={id}>
        {t.tokenType}
      </label>
      <select
        id={id}
        className={styles.select}
        value={value}
        onChange={(event) => onChange(event.target.value as SubjectTokenType)}
      >
        {Object.entries(t.tokenTypes).map(([type, text]) => (
          <option key={type} value={type}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

function Answer({ variables }: { variables: ExplainTokenExchangeQueryVariables }) {
  const t = useMessages(explanationMessages);
  const format = useFormat();
  const { data, error, isFetching, askAgain } = useData(ExplainTokenExchange, variables);
  if (error) return <Failed error={error} onRetry={askAgain} />;
  if (!data) return null;
  const {
    isGranted,
    error: code,
    errorDescription,
    expiresIn,
    rules,
    scopes,
  } = data.explainTokenExchange;
  return (
    <div className={styles.answer} aria-live="polite">
      {isGranted ? (
        <Notice tone="good" title={t.granted}>
          {expiresIn != null && t.livesAtMost(format.number(expiresIn))}
        </Notice>
      ) : (
        <Notice tone="bad" title={t.refused}>
          <code>{code}</code>: {errorDescription}
        </Notice>
      )}
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
      {scopes.length === 0 && <p className={styles.about}>{t.noScopes}</p>}
      <DataTable
        label={t.rules}
        isStale={isFetching}
        rows={rules
          .filter(({ rule, isMet }) => isMet !== true || isAskedAbout(rule, variables))
          .map(({ rule, isMet }) => ({ id: rule, isMet }))}
        columns={[
          { id: 'rule', header: t.rule, cell: ({ id }) => t.ruleTexts[id as ExchangeRule] },
          {
            id: 'result',
            header: t.result,
            isNarrow: true,
            cell: ({ isMet }) => <RuleBadge isMet={isMet ?? null} />,
          },
        ]}
      />
    </div>
  );
}

// The scopes are always those of the API, and there may be no organization.
const isAskedAbout = (
  rule: ExchangeRule,
  { organizationId }: ExplainTokenExchangeQueryVariables,
): boolean => rule !== 'SCOPE_GRAMMAR' && (rule !== 'ORGANIZATION' || organizationId != null);

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
