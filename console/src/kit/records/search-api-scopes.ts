import { graphql } from '../api/graphql.ts';
import { send } from '../api/send.ts';
import type { Pick } from '../controls/search-picker.tsx';

const SearchApiScopes = graphql(`
  query SearchApiScopes($search: String) {
    apis: resources(first: 10, filter: { search: $search }) {
      edges {
        node {
          id
          name
          scopes(first: 20) { edges { node { id name } } }
        }
      }
    }
    scopes(first: 20, filter: { search: $search }, orderBy: { field: NAME, direction: ASC }) {
      edges {
        node {
          id
          name
          resource { id name }
        }
      }
    }
  }
`);

const shown = 30;

/** Finds scopes by their names and their APIs' names. */
export async function searchApiScopes(search: string, signal: AbortSignal): Promise<Pick[]> {
  const { apis, scopes } = await send(SearchApiScopes, { search }, signal);
  const byName = scopes.edges.map(({ node }) => ({
    key: node.id,
    text: node.name,
    detail: node.resource.name,
  }));
  const byApi = apis.edges.flatMap(({ node: api }) =>
    api.scopes.edges.map(({ node }) => ({ key: node.id, text: node.name, detail: api.name })),
  );
  const found = search === '' ? byApi : [...byName, ...byApi];
  return [...new Map(found.map((scope) => [scope.key, scope])).values()].slice(0, shown);
}
