import { graphql } from '../api/graphql.ts';
import { send } from '../api/send.ts';
import type { IconName } from '../controls/icon.tsx';
import { covers, type Scope } from '../session/session.ts';
import { linkTo } from './links.ts';

const SearchRecords = graphql(`
  query SearchRecords(
    $search: String!, $users: Boolean!, $applications: Boolean!, $organizations: Boolean!
    $roles: Boolean!, $resources: Boolean!, $webhooks: Boolean!
  ) {
    users(first: 5, filter: { search: $search }) @include(if: $users) {
      edges { node { id name username primaryEmail } }
    }
    applications(first: 5, filter: { search: $search }) @include(if: $applications) {
      edges { node { id name type } }
    }
    organizations(first: 5, filter: { search: $search }) @include(if: $organizations) {
      edges { node { id name } }
    }
    roles(first: 5, filter: { search: $search }) @include(if: $roles) {
      edges { node { id name type } }
    }
    resources(first: 5, filter: { search: $search }) @include(if: $resources) {
      edges { node { id name indicator } }
    }
    webhooks(first: 5, filter: { search: $search }) @include(if: $webhooks) {
      edges { node { id name url } }
    }
  }
`);

/** A record that a search has found. */
export interface FoundRecord {
  readonly id: string;
  readonly icon: IconName;
  readonly text: string;
  readonly detail?: string | null | undefined;
}

const idPattern = /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/;

/** Finds records of any kind by name, or one by its id, as far as the scopes cover them. */
export async function findRecords(
  search: string,
  scopes: readonly string[],
  signal?: AbortSignal,
): Promise<readonly FoundRecord[]> {
  if (idPattern.test(search) && linkTo(search))
    return [{ id: search, icon: 'right', text: search }];
  const may = (scope: Scope) => covers(scopes, scope);
  const data = await send(
    SearchRecords,
    {
      search,
      users: may('users:read'),
      applications: may('applications:read'),
      organizations: may('organizations:read'),
      roles: may('roles:read'),
      resources: may('resources:read'),
      webhooks: may('webhooks:read'),
    },
    signal,
  );
  return [
    ...(data.users?.edges ?? []).map(({ node: { id, name, username, primaryEmail } }) => ({
      id,
      icon: 'users' as const,
      text: name ?? username ?? primaryEmail ?? id,
      detail: primaryEmail,
    })),
    ...(data.applications?.edges ?? []).map(({ node: { id, name } }) => ({
      id,
      icon: 'applications' as const,
      text: name,
    })),
    ...(data.organizations?.edges ?? []).map(({ node: { id, name } }) => ({
      id,
      icon: 'organizations' as const,
      text: name,
    })),
    ...(data.roles?.edges ?? []).map(({ node: { id, name } }) => ({
      id,
      icon: 'roles' as const,
      text: name,
    })),
    ...(data.resources?.edges ?? []).map(({ node: { id, name, indicator } }) => ({
      id,
      icon: 'apis' as const,
      text: name,
      detail: indicator,
    })),
    ...(data.webhooks?.edges ?? []).map(({ node: { id, name, url } }) => ({
      id,
      icon: 'webhooks' as const,
      text: name,
      detail: String(url),
    })),
  ];
}
