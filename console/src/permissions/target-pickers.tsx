import { useAddress } from '../kit/address.ts';
import { send } from '../kit/api/send.ts';
import { useData } from '../kit/api/use-data.ts';
import type { Pick } from '../kit/controls/search-picker.tsx';
import { useMessages } from '../kit/language/language.ts';
import { RecordFilter, type RecordSearch } from '../kit/lists/record-filter.tsx';
import { picksOf, searchOrganizations } from '../kit/records/search-records.ts';
import { AskedApi, AskedOrganization, SearchAskedApis, SearchAskedScopes } from './documents.ts';
import { permissionMessages } from './messages.ts';
import styles from './permissions.module.css';

const apis: RecordSearch = {
  async search(search, signal): Promise<Pick[]> {
    const { resources } = await send(SearchAskedApis, { search }, signal);
    return resources.edges.map(({ node }) => ({
      key: node.id,
      text: node.name,
      detail: node.indicator,
    }));
  },
  nameOf: async (id) => (await send(AskedApi, { id })).resource?.name,
};

const organizations: RecordSearch = {
  search: searchOrganizations,
  nameOf: async (id) => (await send(AskedOrganization, { id })).organization?.name,
};

/** The scopes of an API. A question names them, so their names are their keys. */
const scopesOf = (resourceId: string | undefined): RecordSearch => ({
  async search(search, signal) {
    const { scopes } = await send(SearchAskedScopes, { search, resourceId }, signal);
    return picksOf(scopes).map((scope) => ({ ...scope, key: scope.text }));
  },
  nameOf: async (name) => name,
});

// What is asked about another API begins at its first page.
const firstPage = { after: undefined, before: undefined };

/** Chooses what a question is about; all of it is in the address. */
export function TargetPickers({ hasScope = false }: { hasScope?: boolean }) {
  const t = useMessages(permissionMessages);
  const { address, change } = useAddress();
  return (
    <div className={styles.pickers}>
      <RecordFilter
        label={t.api}
        records={apis}
        chosen={address['api']}
        onChange={(api) => change({ api, scope: undefined, ...firstPage })}
      />
      {hasScope && address['api'] && (
        <RecordFilter
          label={t.scope}
          records={scopesOf(address['api'])}
          chosen={address['scope']}
          onChange={(scope) => change({ scope, ...firstPage })}
        />
      )}
      <RecordFilter
        label={t.organization}
        records={organizations}
        chosen={address['organization']}
        onChange={(organization) => change({ organization, ...firstPage })}
      />
    </div>
  );
}

/** The API in the address; null if there is none any more, undefined while it is loaded or none is chosen. */
export function useAskedApi() {
  const { address } = useAddress();
  const { data, error, refetch } = useData(
    AskedApi,
    { id: address['api'] ?? '' },
    { pause: !address['api'] },
  );
  return { api: address['api'] ? data?.resource : undefined, error, refetch };
}
