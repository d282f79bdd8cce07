import type { RoleType } from '../../generated/graphql.ts';
import { graphql } from '../api/graphql.ts';
import { send } from '../api/send.ts';
import type { Pick } from '../controls/search-picker.tsx';
import { shownName } from './shown-name.ts';

const SearchUsers = graphql(`
  query SearchUsers($search: String, $notOrganizationId: ID) {
    users(first: 20, filter: { search: $search, notOrganizationId: $notOrganizationId }) {
      edges { node { id name username primaryEmail primaryPhone } }
    }
  }
`);

const SearchMachineApplications = graphql(`
  query SearchMachineApplications($search: String, $notOrganizationId: ID) {
    applications(
      first: 20
      filter: {
        search: $search, types: [MACHINE_TO_MACHINE], notOrganizationId: $notOrganizationId
      }
    ) {
      edges { node { id name description } }
    }
  }
`);

const SearchRoles = graphql(`
  query SearchRoles($search: String, $type: RoleType!) {
    roles(first: 20, filter: { search: $search, type: $type }) {
      edges { node { id name description } }
    }
  }
`);

const SearchOrganizations = graphql(`
  query SearchOrganizations($search: String) {
    organizations(first: 20, filter: { search: $search }) { edges { node { id name description } } }
  }
`);

type Search = (search: string, signal: AbortSignal) => Promise<Pick[]>;

interface Described {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
}

/** Makes choices from records with a name and a description. */
export const picksOf = ({
  edges,
}: {
  readonly edges: readonly { readonly node: Described }[];
}): Pick[] =>
  edges.map(({ node: { id, name, description } }) => ({
    key: id,
    text: name,
    detail: description ?? null,
  }));

/** Finds users who are not members of an organization, by a name, an address or a number. */
export const searchUsersOutside =
  (notOrganizationId: string | undefined): Search =>
  async (search, signal) => {
    const { users } = await send(SearchUsers, { search, notOrganizationId }, signal);
    return users.edges.map(({ node }) => ({
      key: node.id,
      text: shownName(node),
      detail: node.primaryEmail ?? node.username ?? null,
    }));
  };

/** Finds users by a name, an address or a number. */
export const searchUsers = searchUsersOutside(undefined);

/** Finds machine-to-machine applications that are not members of an organization. */
export const searchMachineApplicationsOutside =
  (notOrganizationId: string | undefined): Search =>
  async (search, signal) => {
    const found = await send(SearchMachineApplications, { search, notOrganizationId }, signal);
    return picksOf(found.applications);
  };

/** Finds machine-to-machine applications. */
export const searchMachineApplications = searchMachineApplicationsOutside(undefined);

/** Finds organizations. */
export const searchOrganizations: Search = async (search, signal) =>
  picksOf((await send(SearchOrganizations, { search }, signal)).organizations);

/** Finds the roles that users, or machine-to-machine applications, may hold. */
export const searchRoles =
  (type: RoleType): Search =>
  async (search, signal) =>
    picksOf((await send(SearchRoles, { search, type }, signal)).roles);
