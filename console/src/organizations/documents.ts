import { graphql } from '../api/graphql.ts';
import '../api/refusal.ts';

export const Organizations = graphql(`
  query Organizations(
    $first: Int
    $after: String
    $last: Int
    $before: String
    $filter: OrganizationFilter
    $orderBy: OrganizationOrder
  ) {
    organizations(
      first: $first
      after: $after
      last: $last
      before: $before
      filter: $filter
      orderBy: $orderBy
    ) {
      edges {
        node {
          id
          name
          description
          createdAt
          updatedAt
        }
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
  }
`);

export const OrganizationDetails = graphql(`
  fragment OrganizationDetails on Organization {
    id
    name
    description
    customData
    requiresFactor
    createdAt
    updatedAt
  }
`);

export const Organization = graphql(`
  query Organization($id: ID!) {
    organization(id: $id) {
      ...OrganizationDetails
    }
  }
`);

export const CreateOrganization = graphql(`
  mutation CreateOrganization($input: CreateOrganizationInput!) {
    createOrganization(input: $input) {
      __typename
      ... on CreateOrganizationPayload {
        organization {
          ...OrganizationDetails
        }
      }
      ...Refusal
    }
  }
`);

export const UpdateOrganization = graphql(`
  mutation UpdateOrganization($input: UpdateOrganizationInput!) {
    updateOrganization(input: $input) {
      __typename
      ... on UpdateOrganizationPayload {
        organization {
          ...OrganizationDetails
        }
      }
      ...Refusal
    }
  }
`);

export const DeleteOrganization = graphql(`
  mutation DeleteOrganization($input: DeleteOrganizationInput!) {
    deleteOrganization(input: $input) {
      __typename
      ... on DeleteOrganizationPayload {
        organization {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const OrganizationMembers = graphql(`
  query OrganizationMembers($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    organization(id: $id) {
      id
      members(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            createdAt
            user {
              id
              name
              username
              primaryEmail
              primaryPhone
            }
            roles(first: 50) {
              edges {
                node {
                  id
                  name
                }
              }
            }
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
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
            application {
              id
              name
              type
            }
            roles(first: 50) {
              edges {
                node {
                  id
                  name
                }
              }
            }
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
  }
`);

export const AddOrganizationUsers = graphql(`
  mutation AddOrganizationUsers($input: AddOrganizationUsersInput!) {
    addOrganizationUsers(input: $input) {
      __typename
      ... on AddOrganizationUsersPayload {
        addedUserIds
      }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationUser = graphql(`
  mutation RemoveOrganizationUser($input: RemoveOrganizationUserInput!) {
    removeOrganizationUser(input: $input) {
      __typename
      ... on RemoveOrganizationUserPayload {
        removedUserIds
      }
      ...Refusal
    }
  }
`);

export const AssignOrganizationUserRoles = graphql(`
  mutation AssignOrganizationUserRoles($input: AssignOrganizationUserRolesInput!) {
    assignOrganizationUserRoles(input: $input) {
      __typename
      ... on AssignOrganizationUserRolesPayload {
        organizationUser {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationUserRole = graphql(`
  mutation RemoveOrganizationUserRole($input: RemoveOrganizationUserRoleInput!) {
    removeOrganizationUserRole(input: $input) {
      __typename
      ... on RemoveOrganizationUserRolePayload {
        organizationUser {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const AddOrganizationApplications = graphql(`
  mutation AddOrganizationApplications($input: AddOrganizationApplicationsInput!) {
    addOrganizationApplications(input: $input) {
      __typename
      ... on AddOrganizationApplicationsPayload {
        addedApplicationIds
      }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationApplication = graphql(`
  mutation RemoveOrganizationApplication($input: RemoveOrganizationApplicationInput!) {
    removeOrganizationApplication(input: $input) {
      __typename
      ... on RemoveOrganizationApplicationPayload {
        removedApplicationIds
      }
      ...Refusal
    }
  }
`);

export const AssignOrganizationApplicationRoles = graphql(`
  mutation AssignOrganizationApplicationRoles($input: AssignOrganizationApplicationRolesInput!) {
    assignOrganizationApplicationRoles(input: $input) {
      __typename
      ... on AssignOrganizationApplicationRolesPayload {
        organizationApplication {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationApplicationRole = graphql(`
  mutation RemoveOrganizationApplicationRole($input: RemoveOrganizationApplicationRoleInput!) {
    removeOrganizationApplicationRole(input: $input) {
      __typename
      ... on RemoveOrganizationApplicationRolePayload {
        organizationApplication {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const SearchUsers = graphql(`
  query SearchUsers($search: String) {
    users(first: 20, filter: { search: $search }) {
      edges {
        node {
          id
          name
          username
          primaryEmail
          primaryPhone
        }
      }
    }
  }
`);

export const SearchMachineApplications = graphql(`
  query SearchMachineApplications($search: String) {
    applications(first: 20, filter: { search: $search, types: [MACHINE_TO_MACHINE] }) {
      edges {
        node {
          id
          name
          description
        }
      }
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
      edges {
        node {
          id
          name
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

export const Invitations = graphql(`
  query Invitations(
    $first: Int
    $after: String
    $last: Int
    $before: String
    $filter: OrganizationInvitationFilter
    $orderBy: OrganizationInvitationOrder
  ) {
    organizationInvitations(
      first: $first
      after: $after
      last: $last
      before: $before
      filter: $filter
      orderBy: $orderBy
    ) {
      edges {
        node {
          id
          invitee
          status
          expiresAt
          createdAt
          roles(first: 20) {
            edges {
              node {
                id
                name
              }
            }
          }
        }
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
  }
`);

export const CreateOrganizationInvitation = graphql(`
  mutation CreateOrganizationInvitation($input: CreateOrganizationInvitationInput!) {
    createOrganizationInvitation(input: $input) {
      __typename
      ... on CreateOrganizationInvitationPayload {
        organizationInvitation {
          id
          invitee
        }
      }
      ...Refusal
    }
  }
`);

export const UpdateOrganizationInvitationStatus = graphql(`
  mutation UpdateOrganizationInvitationStatus($input: UpdateOrganizationInvitationStatusInput!) {
    updateOrganizationInvitationStatus(input: $input) {
      __typename
      ... on UpdateOrganizationInvitationStatusPayload {
        organizationInvitation {
          id
          status
        }
      }
      ...Refusal
    }
  }
`);

export const DeleteOrganizationInvitation = graphql(`
  mutation DeleteOrganizationInvitation($input: DeleteOrganizationInvitationInput!) {
    deleteOrganizationInvitation(input: $input) {
      __typename
      ... on DeleteOrganizationInvitationPayload {
        organizationInvitation {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const EmailDomains = graphql(`
  query EmailDomains($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    organization(id: $id) {
      id
      emailDomains(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            domain
            createdAt
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
  }
`);

export const JustInTimeRoles = graphql(`
  query JustInTimeRoles($id: ID!, $after: String) {
    organization(id: $id) {
      id
      jitRoles(first: 100, after: $after) {
        edges {
          node {
            id
            name
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

export const AddOrganizationEmailDomain = graphql(`
  mutation AddOrganizationEmailDomain($input: AddOrganizationEmailDomainInput!) {
    addOrganizationEmailDomain(input: $input) {
      __typename
      ... on AddOrganizationEmailDomainPayload {
        organization {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationEmailDomain = graphql(`
  mutation RemoveOrganizationEmailDomain($input: RemoveOrganizationEmailDomainInput!) {
    removeOrganizationEmailDomain(input: $input) {
      __typename
      ... on RemoveOrganizationEmailDomainPayload {
        organization {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const ReplaceOrganizationJitRoles = graphql(`
  mutation ReplaceOrganizationJitRoles($input: ReplaceOrganizationJitRolesInput!) {
    replaceOrganizationJitRoles(input: $input) {
      __typename
      ... on ReplaceOrganizationJitRolesPayload {
        organization {
          id
        }
      }
      ...Refusal
    }
  }
`);

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
          scopes(first: 50) {
            edges {
              node {
                id
                name
              }
            }
          }
        }
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
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
      edges {
        node {
          id
          name
          description
        }
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
  }
`);

export const OrganizationRole = graphql(`
  query OrganizationRole($id: ID!) {
    organizationRole(id: $id) {
      id
      name
      description
    }
  }
`);

export const ScopesOfOrganizationRole = graphql(`
  query ScopesOfOrganizationRole($id: ID!, $after: String) {
    organizationRole(id: $id) {
      id
      scopes(first: 100, after: $after) {
        edges {
          node {
            id
            name
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
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
            resource {
              id
              name
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

export const SearchOrganizationScopes = graphql(`
  query SearchOrganizationScopes($search: String) {
    organizationScopes(first: 20, filter: { search: $search }) {
      edges {
        node {
          id
          name
          description
        }
      }
    }
  }
`);
export const CreateOrganizationRole = graphql(`
  mutation CreateOrganizationRole($input: CreateOrganizationRoleInput!) {
    createOrganizationRole(input: $input) {
      __typename
      ... on CreateOrganizationRolePayload {
        organizationRole {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const UpdateOrganizationRole = graphql(`
  mutation UpdateOrganizationRole($input: UpdateOrganizationRoleInput!) {
    updateOrganizationRole(input: $input) {
      __typename
      ... on UpdateOrganizationRolePayload {
        organizationRole {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const DeleteOrganizationRole = graphql(`
  mutation DeleteOrganizationRole($input: DeleteOrganizationRoleInput!) {
    deleteOrganizationRole(input: $input) {
      __typename
      ... on DeleteOrganizationRolePayload {
        organizationRole {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const AddOrganizationRoleScopes = graphql(`
  mutation AddOrganizationRoleScopes($input: AddOrganizationRoleScopesInput!) {
    addOrganizationRoleScopes(input: $input) {
      __typename
      ... on AddOrganizationRoleScopesPayload {
        organizationRole {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationRoleScope = graphql(`
  mutation RemoveOrganizationRoleScope($input: RemoveOrganizationRoleScopeInput!) {
    removeOrganizationRoleScope(input: $input) {
      __typename
      ... on RemoveOrganizationRoleScopePayload {
        organizationRole {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const AddOrganizationRoleResourceScopes = graphql(`
  mutation AddOrganizationRoleResourceScopes($input: AddOrganizationRoleResourceScopesInput!) {
    addOrganizationRoleResourceScopes(input: $input) {
      __typename
      ... on AddOrganizationRoleResourceScopesPayload {
        organizationRole {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationRoleResourceScope = graphql(`
  mutation RemoveOrganizationRoleResourceScope($input: RemoveOrganizationRoleResourceScopeInput!) {
    removeOrganizationRoleResourceScope(input: $input) {
      __typename
      ... on RemoveOrganizationRoleResourceScopePayload {
        organizationRole {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const CreateOrganizationScope = graphql(`
  mutation CreateOrganizationScope($input: CreateOrganizationScopeInput!) {
    createOrganizationScope(input: $input) {
      __typename
      ... on CreateOrganizationScopePayload {
        organizationScope {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const UpdateOrganizationScope = graphql(`
  mutation UpdateOrganizationScope($input: UpdateOrganizationScopeInput!) {
    updateOrganizationScope(input: $input) {
      __typename
      ... on UpdateOrganizationScopePayload {
        organizationScope {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const DeleteOrganizationScope = graphql(`
  mutation DeleteOrganizationScope($input: DeleteOrganizationScopeInput!) {
    deleteOrganizationScope(input: $input) {
      __typename
      ... on DeleteOrganizationScopePayload {
        organizationScope {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const OrganizationIdentityProviders = graphql(`
  query OrganizationIdentityProviders(
    $id: ID!
    $first: Int
    $after: String
    $last: Int
    $before: String
  ) {
    organization(id: $id) {
      id
      identityProviders(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            name
            kind
            enabled
            issuer
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
  }
`);

export const SearchIdentityProviders = graphql(`
  query SearchIdentityProviders($search: String) {
    identityProviders(first: 20, filter: { search: $search }) {
      edges {
        node {
          id
          name
          issuer
        }
      }
    }
  }
`);

export const AddOrganizationIdentityProvider = graphql(`
  mutation AddOrganizationIdentityProvider($input: AddOrganizationIdentityProviderInput!) {
    addOrganizationIdentityProvider(input: $input) {
      __typename
      ... on AddOrganizationIdentityProviderPayload {
        organization {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationIdentityProvider = graphql(`
  mutation RemoveOrganizationIdentityProvider($input: RemoveOrganizationIdentityProviderInput!) {
    removeOrganizationIdentityProvider(input: $input) {
      __typename
      ... on RemoveOrganizationIdentityProviderPayload {
        organization {
          id
        }
      }
      ...Refusal
    }
  }
`);
