import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/page-info.ts';
import '../kit/api/refusal.ts';

export const Roles = graphql(`
  query Roles(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: RoleFilter, $orderBy: RoleOrder
  ) {
    roles(
      first: $first, after: $after, last: $last, before: $before
      filter: $filter, orderBy: $orderBy
    ) {
      edges { node { id name description type isDefault createdAt } }
      pageInfo { ...PageInfo }
    }
  }
`);

graphql(`
  fragment RoleFields on Role {
    id
    name
    description
    type
    isDefault
    version
    createdAt
    updatedAt
  }
`);

export const Role = graphql(`
  query Role($id: ID!) {
    role(id: $id) { ...RoleFields }
  }
`);

export const CreateRole = graphql(`
  mutation CreateRole($input: CreateRoleInput!) {
    createRole(input: $input) {
      __typename
      ... on CreateRolePayload { role { ...RoleFields } }
      ...Refusal
    }
  }
`);

export const UpdateRole = graphql(`
  mutation UpdateRole($input: UpdateRoleInput!) {
    updateRole(input: $input) {
      __typename
      ... on UpdateRolePayload { role { ...RoleFields } }
      ...Refusal
    }
  }
`);

export const DeleteRole = graphql(`
  mutation DeleteRole($input: DeleteRoleInput!) {
    deleteRole(input: $input) {
      __typename
      ... on DeleteRolePayload { role { id } }
      ...Refusal
    }
  }
`);

export const RoleScopes = graphql(`
  query RoleScopes($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    role(id: $id) {
      id
      scopes(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            name
            description
            resource { id name }
          }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);
export const AddRoleScopes = graphql(`
  mutation AddRoleScopes($input: AddRoleScopesInput!) {
    addRoleScopes(input: $input) {
      __typename
      ... on AddRoleScopesPayload { role { id } }
      ...Refusal
    }
  }
`);

export const RemoveRoleScope = graphql(`
  mutation RemoveRoleScope($input: RemoveRoleScopeInput!) {
    removeRoleScope(input: $input) {
      __typename
      ... on RemoveRoleScopePayload { role { id } }
      ...Refusal
    }
  }
`);

export const RoleUsers = graphql(`
  query RoleUsers($first: Int, $after: String, $last: Int, $before: String, $filter: UserFilter) {
    users(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
      edges { node { id name username primaryEmail isSuspended } }
      pageInfo { ...PageInfo }
    }
  }
`);

export const AssignRoleToUser = graphql(`
  mutation AssignRoleToUser($input: AssignUserRolesInput!) {
    assignUserRoles(input: $input) {
      __typename
      ... on AssignUserRolesPayload { user { id } }
      ...Refusal
    }
  }
`);

export const RemoveRoleFromUser = graphql(`
  mutation RemoveRoleFromUser($input: RemoveUserRoleInput!) {
    removeUserRole(input: $input) {
      __typename
      ... on RemoveUserRolePayload { user { id } }
      ...Refusal
    }
  }
`);

export const RoleApplications = graphql(`
  query RoleApplications(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: ApplicationFilter
  ) {
    applications(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
      edges { node { id name description } }
      pageInfo { ...PageInfo }
    }
  }
`);

export const AssignRoleToApplication = graphql(`
  mutation AssignRoleToApplication($input: AssignApplicationRolesInput!) {
    assignApplicationRoles(input: $input) {
      __typename
      ... on AssignApplicationRolesPayload { application { id } }
      ...Refusal
    }
  }
`);

export const RemoveRoleFromApplication = graphql(`
  mutation RemoveRoleFromApplication($input: RemoveApplicationRoleInput!) {
    removeApplicationRole(input: $input) {
      __typename
      ... on RemoveApplicationRolePayload { application { id } }
      ...Refusal
    }
  }
`);
