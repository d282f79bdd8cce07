import { useId } from 'react';
import type { ExchangeRule, SubjectTokenType } from '../../generated/graphql.ts';
import { useAddress } from '../../kit/address.ts';
import { send } from '../../kit/api/send.ts';
import { IconButton } from '../../kit/controls/button.tsx';
import { classes } from '../../kit/controls/classes.ts';
import { Notice } from '../../kit/controls/notice.tsx';
import { SearchPicker } from '../../kit/controls/search-picker.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { type RecordSearch, useRecordName } from '../../kit/lists/record-filter.tsx';
import { picksOf, searchOrganizations, searchUsers } from '../../kit/records/search-records.ts';
import { shownName } from '../../kit/records/shown-name.ts';
import { EmptyState } from '../../kit/states/state.tsx';
import { AskedOrganization, SearchAskedApis } from '../documents.ts';
import { Answer } from './answer.tsx';
import { ExplainedApplication, ExplainedUser, SearchExplainedApplications } from './documents.ts';
import styles from './explanation.module.css';
import { explanationMessages } from './messages.ts';

const applications: RecordSearch = {
  search: async (search, signal) =>
    picksOf((await send(SearchExplainedApplications, { search }, signal)).applications),
  nameOf: async (id) => (await send(ExplainedApplication, { id })).application?.name,
};

const users: RecordSearch = {
  search: searchUsers,
  async nameOf(id) {
    const { user } = await send(ExplainedUser, { id });
    return user ? shownName(user) : undefined;
  },
};

// A request names an API by its indicator, which need not be registered.
const apis: RecordSearch = {
  async search(search, signal) {
    const { resources } = await send(SearchAskedApis, { search }, signal);
    return resources.edges.map(({ node: { indicator, name } }) => ({
      key: indicator,
      text: name,
      detail: indicator,
    }));
  },
  async nameOf(indicator) {
    const { resources } = await send(SearchAskedApis, { search: indicator });
    return resources.edges.find(({ node }) => node.indicator === indicator)?.node.name;
  },
};

const organizations: RecordSearch = {
  search: searchOrganizations,
  nameOf: async (id) => (await send(AskedOrganization, { id })).organization?.name,
};

/**
 * Shows what an exchange for a user and an API would grant, and which rules and roles decide it. What it is asked about
 * is in the address.
 *
 * @param applicationId The application of the page, if it has one.
 */
export function ExplainExchange({ applicationId }: { applicationId?: string }) {
  const t = useMessages(explanationMessages);
  const { address } = useAddress();
  const { user, resource, organization, client, rule } = address;
  const application = applicationId ?? address['application'];
  const subjectTokenType = tokenTypeIn(address['token']);
  return (
    <>
      <div className={classes(styles.question, applicationId !== undefined && styles.within)}>
        {applicationId === undefined && (
          <Chosen
            name="application"
            label={t.application}
            placeholder={t.searchApplication}
            records={applications}
          />
        )}
        <Chosen name="user" label={t.user} placeholder={t.searchUser} records={users} />
        <Chosen name="resource" label={t.api} placeholder={t.searchApi} records={apis} />
        <Chosen
          name="organization"
          label={t.organization}
          placeholder={t.searchOrganization}
          records={organizations}
        />
        <TokenTypeSelect value={subjectTokenType} />
        <Chosen
          name="client"
          label={t.subjectClient}
          placeholder={t.searchSubjectClient}
          records={applications}
        />
      </div>
      {rule && rule in t.faults && (
        <div className={styles.answer}>
          <Notice tone="warn" title={t.wasRefused}>
            {t.faults[rule as ExchangeRule]}
          </Notice>
        </div>
      )}
      {application && user && resource ? (
        <Answer
          variables={{
            applicationId: application,
            userId: user,
            resource,
            organizationId: organization ?? null,
            subjectTokenType,
            subjectClientId: client ?? null,
          }}
        />
      ) : (
        applicationId === undefined && (
          <EmptyState icon="roles" title={t.chooseTitle}>
            {t.chooseText}
          </EmptyState>
        )
      )}
    </>
  );
}

function Chosen({
  name,
  label,
  placeholder,
  records: { search, nameOf },
}: {
  /** The parameter of the address. */
  name: 'application' | 'user' | 'resource' | 'organization' | 'client';
  label: string;
  placeholder: string;
  records: RecordSearch;
}) {
  const t = useMessages(explanationMessages);
  const { address, change } = useAddress();
  const chosen = address[name];
  const [found, know] = useRecordName(chosen, nameOf);
  const shown = found ?? chosen ?? '';
  return (
    <div className={styles.chosen}>
      <span className={styles.name}>{label}</span>
      {chosen ? (
        <span className={styles.chip}>
          <span>{shown}</span>
          <IconButton
            icon="close"
            size="small"
            label={t.clear(shown)}
            onClick={() => change({ [name]: undefined, rule: undefined })}
          />
        </span>
      ) : (
        <SearchPicker
          label={placeholder}
          search={search}
          onPick={({ key, text }) => {
            know(key, text);
            change({ [name]: key });
          }}
        />
      )}
    </div>
  );
}

const tokenTypes = [
  'ACCESS_TOKEN',
  'ASSERTED_ACCESS_TOKEN',
  'SUBJECT_TOKEN',
  'PERSONAL_ACCESS_TOKEN',
] as const;

const tokenTypeIn = (given: string | undefined): SubjectTokenType =>
  tokenTypes.find((type) => type === given) ?? 'ACCESS_TOKEN';

function TokenTypeSelect({ value }: { value: SubjectTokenType }) {
  const t = useMessages(explanationMessages);
  const { change } = useAddress();
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
        onChange={({ target }) => change({ token: target.value })}
      >
        {tokenTypes.map((type) => (
          <option key={type} value={type}>
            {t.tokenTypes[type]}
          </option>
        ))}
      </select>
    </div>
  );
}
