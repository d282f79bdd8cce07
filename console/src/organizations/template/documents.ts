import { graphql } from '../../kit/api/graphql.ts';
import '../../kit/api/page-info.ts';
import '../../kit/api/refusal.ts';

export const TemplateRoles = graphql(`
  query TemplateRoles($first: Int, $after: String, $last: Int, $before: String) {
    organizationRoles(
      first: $first
      after: $after
      last: $last
      before: $before
      orderBy: { field: NAME, direction: ASC }
    ) {
      edges {
        node {
          id
          name
          description
          type
          scopes(first: 50) { edges { node { id name } } }
        }
      }
      pageInfo { ...PageInfo }
    }
  }
`);

export const TemplateScopes = graphql(`
  query TemplateScopes($first: Int, $after: String, $last: Int, $before: String) {
    organizationScopes(
      first: $first
      after: $after
      last: $last
      before: $before
      orderBy: { field: NAME, direction: ASC }
    ) {
      edges { node { id name description version } }
      pageInfo { ...PageInfo }
    }
  }
`);

export const TemplateScope = graphql(`
  query TemplateScope($id: ID!) {
    scope: organizationScope(id: $id) { id name description version }
  }
`);

export const OrganizationRole = graphql(`
  query OrganizationRole($id: ID!) {
    organizationRole(id: $id) { id name description version }
  }
`);

export const ScopesOfOrganizationRole = graphql(`
  query ScopesOfOrganizationRole($id: ID!, $after: String) {
    organizationRole(id: $id) {
      id
      scopes(first: 100, after: $after) {
        edges { node { id name } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const ApiScopesOfOrganizationRole = graphql(`
  query ApiScopesOfOrganizationRole($id: ID!, $after: String) {
    organizationRole(id: $id) {
      id
      resourceScopes(first: 100, after: $after) {
        edges {
          node {
            id
            name
            resource { id name }
          }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const SearchOrganizationScopes = graphql(`
  query SearchOrganizationScopes($search: String) {
    organizationScopes(first: 20, filter: { search: $search }) {
      edges { node { id name description } }
    }
  }
`);

export const CreateOrganizationRole = graphql(`
  mutation CreateOrganizationRole($input: CreateOrganizationRoleInput!) {
    createOrganizationRole(input: $input) {
      __typename
      ... on CreateOrganizationRolePayload { organizationRole { id } }
      ...Refusal
    }
  }
`);

export const UpdateOrganizationRole = graphql(`
  mutation UpdateOrganizationRole($input: UpdateOrganizationRoleInput!) {
    updateOrganizationRole(input: $input) {
      __typename
      ... on UpdateOrganizationRolePayload { organizationRole { id } }
      ...Refusal
    }
  }
`);

export const DeleteOrganizationRole = graphql(`
  mutation DeleteOrganizationRole($input: DeleteOrganizationRoleInput!) {
    deleteOrganizationRole(input: $input) {
      __typename
      ... on DeleteOrganizationRolePayload { organizationRole { id } }
      ...Refusal
    }
  }
`);

export const AddOrganizationRoleScopes = graphql(`
  mutation AddOrganizationRoleScopes($input: AddOrganizationRoleScopesInput!) {
    addOrganizationRoleScopes(input: $input) {
      __typename
      ... on AddOrganizationRoleScopesPayload { organizationRole { id } }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationRoleScope = graphql(`
  mutation RemoveOrganizationRoleScope($input: RemoveOrganizationRoleScopeInput!) {
    removeOrganizationRoleScope(input: $input) {
      __typename
      ... on RemoveOrganizationRoleScopePayload { organizationRole { id } }
      ...Refusal
    }
  }
`);

export const AddOrganizationRoleResourceScopes = graphql(`
  mutation AddOrganizationRoleResourceScopes($input: AddOrganizationRoleResourceScopesInput!) {
    addOrganizationRoleResourceScopes(input: $input) {
      __typename
      ... on AddOrganizationRoleResourceScopesPayload { organizationRole { id } }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationRoleResourceScope = graphql(`
  mutation RemoveOrganizationRoleResourceScope($input: RemoveOrganizationRoleResourceScopeInput!) {
    removeOrganizationRoleResourceScope(input: $input) {
      __typename
      ... on RemoveOrganizationRoleResourceScopePayload { organizationRole { id } }
      ...Refusal
    }
  }
`);

export const CreateOrganizationScope = graphql(`
  mutation CreateOrganizationScope($input: CreateOrganizationScopeInput!) {
    createOrganizationScope(input: $input) {
      __typename
      ... on CreateOrganizationScopePayload { organizationScope { id } }
      ...Refusal
    }
  }
`);

export const UpdateOrganizationScope = graphql(`
  mutation UpdateOrganizationScope($input: UpdateOrganizationScopeInput!) {
    updateOrganizationScope(input: $input) {
      __typename
      ... on UpdateOrganizationScopePayload { organizationScope { id } }
      ...Refusal
    }
  }
`);

export const DeleteOrganizationScope = graphql(`
  mutation DeleteOrganizationScope($input: DeleteOrganizationScopeInput!) {
    deleteOrganizationScope(input: $input) {
      __typename
      ... on DeleteOrganizationScopePayload { organizationScope { id } }
      ...Refusal
    }
  }
`);
