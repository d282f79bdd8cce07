import { graphql } from '../api/graphql.ts';
import '../api/refusal.ts';

export const Applications = graphql(`
  query Applications(
    $first: Int
    $after: String
    $last: Int
    $before: String
    $filter: ApplicationFilter
    $orderBy: ApplicationOrder
  ) {
    applications(
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
          type
          allowTokenExchange
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
`);

export const ApplicationFields = graphql(`
  fragment ApplicationFields on Application {
    id
    name
    description
    type
    allowTokenExchange
    allowImpersonation
    allowPersonalAccessTokens
    allowHeadlessSignIn
    isThirdParty
    exchangeResources
    exchangeSubjectAudiences
    redirectUris
    postLogoutRedirectUris
    corsAllowedOrigins
    idTokenSigningAlg
    createdAt
    updatedAt
  }
`);

export const Application = graphql(`
  query Application($id: ID!) {
    application(id: $id) {
      ...ApplicationFields
      secrets(first: 100) {
        edges {
          node {
            id
            name
            createdAt
            expiresAt
          }
        }
      }
    }
  }
`);

export const CreateApplication = graphql(`
  mutation CreateApplication($input: CreateApplicationInput!) {
    createApplication(input: $input) {
      __typename
      ... on CreateApplicationPayload {
        application {
          ...ApplicationFields
        }
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
      ... on UpdateApplicationPayload {
        application {
          ...ApplicationFields
        }
      }
      ...Refusal
    }
  }
`);

export const DeleteApplication = graphql(`
  mutation DeleteApplication($input: DeleteApplicationInput!) {
    deleteApplication(input: $input) {
      __typename
      ... on DeleteApplicationPayload {
        application {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const CreateApplicationSecret = graphql(`
  mutation CreateApplicationSecret($input: CreateApplicationSecretInput!) {
    createApplicationSecret(input: $input) {
      __typename
      ... on CreateApplicationSecretPayload {
        applicationSecret {
          id
          name
        }
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
      ... on DeleteApplicationSecretPayload {
        applicationSecret {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const ApplicationRoles = graphql(`
  query ApplicationRoles($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    application(id: $id) {
      id
      roles(first: $first, after: $after, last: $last, before: $before) {
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
  }
`);

export const AssignApplicationRoles = graphql(`
  mutation AssignApplicationRoles($input: AssignApplicationRolesInput!) {
    assignApplicationRoles(input: $input) {
      __typename
      ... on AssignApplicationRolesPayload {
        application {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const RemoveApplicationRole = graphql(`
  mutation RemoveApplicationRole($input: RemoveApplicationRoleInput!) {
    removeApplicationRole(input: $input) {
      __typename
      ... on RemoveApplicationRolePayload {
        application {
          id
        }
      }
      ...Refusal
    }
  }
`);

export const ApplicationOrganizations = graphql(`
  query ApplicationOrganizations(
    $id: ID!
    $first: Int
    $after: String
    $last: Int
    $before: String
  ) {
    application(id: $id) {
      id
      organizations(first: $first, after: $after, last: $last, before: $before) {
        edges {
          id
          node {
            id
            name
          }
          roles(first: 20) {
            edges {
              node {
                id
                name
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

export const SearchResources = graphql(`
  query SearchResources($search: String) {
    resources(first: 20, filter: { search: $search }) {
      edges {
        node {
          id
          name
          indicator
        }
      }
    }
  }
`);

export const SearchApplicationRoles = graphql(`
  query SearchApplicationRoles($search: String) {
    roles(first: 20, filter: { search: $search, type: MACHINE_TO_MACHINE }) {
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

export const SearchSubjects = graphql(`
  query SearchSubjects($search: String) {
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

export const SearchLimitingOrganizations = graphql(`
  query SearchLimitingOrganizations($search: String) {
    organizations(first: 20, filter: { search: $search }) {
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

export const ExplainTokenExchange = graphql(`
  query ExplainTokenExchange(
    $applicationId: ID!
    $userId: ID!
    $resource: String!
    $organizationId: ID
    $subjectTokenType: SubjectTokenType!
  ) {
    explainTokenExchange(
      applicationId: $applicationId
      userId: $userId
      resource: $resource
      organizationId: $organizationId
      subjectTokenType: $subjectTokenType
    ) {
      isGranted
      error
      errorDescription
      expiresIn
      rules {
        rule
        isMet
        errorDescription
      }
      scopes {
        name
        outcome
        sources {
          counts
          role {
            id
            name
          }
          organizationRole {
            id
            name
          }
          organization {
            id
            name
          }
        }
      }
    }
  }
`);
