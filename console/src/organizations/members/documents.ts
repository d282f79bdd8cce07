import { graphql } from '../../kit/api/graphql.ts';
import '../../kit/api/page-info.ts';
import '../../kit/api/refusal.ts';

export const OrganizationMembers = graphql(`
  query OrganizationMembers($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    organization(id: $id) {
      id
      members(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            createdAt
            user { id name username primaryEmail primaryPhone }
            roles(first: 50) { edges { node { id name } } }
          }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const OrganizationApplications = graphql(`
  query OrganizationApplications($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    organization(id: $id) {
      id
      applications(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            createdAt
            application { id name type }
            roles(first: 50) { edges { node { id name } } }
          }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const AddOrganizationUsers = graphql(`
  mutation AddOrganizationUsers($input: AddOrganizationUsersInput!) {
    addOrganizationUsers(input: $input) {
      __typename
      ... on AddOrganizationUsersPayload { addedUserIds }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationUser = graphql(`
  mutation RemoveOrganizationUser($input: RemoveOrganizationUserInput!) {
    removeOrganizationUser(input: $input) {
      __typename
      ... on RemoveOrganizationUserPayload { removedUserIds }
      ...Refusal
    }
  }
`);

export const AssignOrganizationUserRoles = graphql(`
  mutation AssignOrganizationUserRoles($input: AssignOrganizationUserRolesInput!) {
    assignOrganizationUserRoles(input: $input) {
      __typename
      ... on AssignOrganizationUserRolesPayload { organizationUser { id } }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationUserRole = graphql(`
  mutation RemoveOrganizationUserRole($input: RemoveOrganizationUserRoleInput!) {
    removeOrganizationUserRole(input: $input) {
      __typename
      ... on RemoveOrganizationUserRolePayload { organizationUser { id } }
      ...Refusal
    }
  }
`);

export const AddOrganizationApplications = graphql(`
  mutation AddOrganizationApplications($input: AddOrganizationApplicationsInput!) {
    addOrganizationApplications(input: $input) {
      __typename
      ... on AddOrganizationApplicationsPayload { addedApplicationIds }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationApplication = graphql(`
  mutation RemoveOrganizationApplication($input: RemoveOrganizationApplicationInput!) {
    removeOrganizationApplication(input: $input) {
      __typename
      ... on RemoveOrganizationApplicationPayload { removedApplicationIds }
      ...Refusal
    }
  }
`);

export const AssignOrganizationApplicationRoles = graphql(`
  mutation AssignOrganizationApplicationRoles($input: AssignOrganizationApplicationRolesInput!) {
    assignOrganizationApplicationRoles(input: $input) {
      __typename
      ... on AssignOrganizationApplicationRolesPayload { organizationApplication { id } }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationApplicationRole = graphql(`
  mutation RemoveOrganizationApplicationRole($input: RemoveOrganizationApplicationRoleInput!) {
    removeOrganizationApplicationRole(input: $input) {
      __typename
      ... on RemoveOrganizationApplicationRolePayload { organizationApplication { id } }
      ...Refusal
    }
  }
`);

export const OrganizationRoleChoices = graphql(`
  query OrganizationRoleChoices($type: RoleType, $after: String) {
    organizationRoles(
      first: 100
      after: $after
      filter: { type: $type }
      orderBy: { field: NAME, direction: ASC }
    ) {
      edges { node { id name } }
      pageInfo { ...PageInfo }
    }
  }
`);
