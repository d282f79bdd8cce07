import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/page-info.ts';
import '../kit/api/refusal.ts';

export const Applications = graphql(`
  query Applications(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: ApplicationFilter, $orderBy: ApplicationOrder
  ) {
    applications(
      first: $first, after: $after, last: $last, before: $before
      filter: $filter, orderBy: $orderBy
    ) {
      edges { node { id name description type allowTokenExchange createdAt } }
      pageInfo { ...PageInfo }
    }
  }
`);

graphql(`
  fragment ApplicationFields on Application {
    id
    name
    description
    type
    origin
    metadataUrl
    keys { jwks jwksUri }
    allowSecrets
    requireDpop
    mayRebindTokens
    requirePushedAuthorizationRequests
    requirePkce
    securityProfile
    refreshTokenReuseSeconds
    allowTokenExchange
    allowImpersonation
    allowPersonalAccessTokens
    allowHeadlessSignIn
    allowDeviceGrant
    isThirdParty
    exchangeResources
    exchangeThirdPartySubjectTokens
    exchangeSubjectAudiences
    redirectUris
    postLogoutRedirectUris
    corsAllowedOrigins
    idTokenSigningAlg
    version
    createdAt
    updatedAt
  }
`);

export const Application = graphql(`
  query Application($id: ID!) {
    application(id: $id) {
      ...ApplicationFields
      secrets(first: 100) { edges { node { id name createdAt expiresAt } } }
    }
  }
`);

export const CreateApplication = graphql(`
  mutation CreateApplication($input: CreateApplicationInput!) {
    createApplication(input: $input) {
      __typename
      ... on CreateApplicationPayload {
        application { ...ApplicationFields }
        secret
      }
      ...Refusal
    }
  }
`);

export const UpdateApplication = graphql(`
  mutation UpdateApplication($input: UpdateApplicationInput!) {
    updateApplication(input: $input) {
      __typename
      ... on UpdateApplicationPayload { application { ...ApplicationFields } }
      ...Refusal
    }
  }
`);

export const DeleteApplication = graphql(`
  mutation DeleteApplication($input: DeleteApplicationInput!) {
    deleteApplication(input: $input) {
      __typename
      ... on DeleteApplicationPayload { application { id } }
      ...Refusal
    }
  }
`);

export const CreateApplicationSecret = graphql(`
  mutation CreateApplicationSecret($input: CreateApplicationSecretInput!) {
    createApplicationSecret(input: $input) {
      __typename
      ... on CreateApplicationSecretPayload {
        applicationSecret { id name }
        secret
      }
      ...Refusal
    }
  }
`);

export const DeleteApplicationSecret = graphql(`
  mutation DeleteApplicationSecret($input: DeleteApplicationSecretInput!) {
    deleteApplicationSecret(input: $input) {
      __typename
      ... on DeleteApplicationSecretPayload { applicationSecret { id } }
      ...Refusal
    }
  }
`);

export const ApplicationRoles = graphql(`
  query ApplicationRoles($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    application(id: $id) {
      id
      roles(first: $first, after: $after, last: $last, before: $before) {
        edges { node { id name description } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const AssignApplicationRoles = graphql(`
  mutation AssignApplicationRoles($input: AssignApplicationRolesInput!) {
    assignApplicationRoles(input: $input) {
      __typename
      ... on AssignApplicationRolesPayload { application { id } }
      ...Refusal
    }
  }
`);

export const RemoveApplicationRole = graphql(`
  mutation RemoveApplicationRole($input: RemoveApplicationRoleInput!) {
    removeApplicationRole(input: $input) {
      __typename
      ... on RemoveApplicationRolePayload { application { id } }
      ...Refusal
    }
  }
`);

export const ApplicationOrganizations = graphql(`
  query ApplicationOrganizations(
    $id: ID!, $first: Int, $after: String, $last: Int, $before: String
  ) {
    application(id: $id) {
      id
      organizations(first: $first, after: $after, last: $last, before: $before) {
        edges {
          id
          node { id name }
          roles(first: 20) { edges { node { id name } } }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const SearchResources = graphql(`
  query SearchResources($search: String) {
    resources(first: 20, filter: { search: $search }) { edges { node { id name indicator } } }
  }
`);
