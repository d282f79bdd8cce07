import { graphql } from '../../kit/api/graphql.ts';
import '../../kit/api/page-info.ts';
import '../../kit/api/refusal.ts';

graphql(`
  fragment TrustedIssuerFields on TrustedIssuer {
    id
    name
    issuer
    jwksUri
    kind
    claimRules { claim equals }
    application { id name }
    maxLifetimeSeconds
    requireJti
    version
  }
`);

export const TrustedIssuers = graphql(`
  query TrustedIssuers(
    $first: Int, $after: String, $last: Int, $before: String, $applicationId: ID
  ) {
    trustedIssuers(
      first: $first
      after: $after
      last: $last
      before: $before
      filter: { applicationId: $applicationId }
      orderBy: { field: NAME, direction: ASC }
    ) {
      edges { node { ...TrustedIssuerFields } }
      pageInfo { ...PageInfo }
    }
  }
`);

export const TrustedIssuer = graphql(`
  query TrustedIssuer($id: ID!) {
    trustedIssuer(id: $id) { ...TrustedIssuerFields }
  }
`);

export const CreateTrustedIssuer = graphql(`
  mutation CreateTrustedIssuer($input: CreateTrustedIssuerInput!) {
    createTrustedIssuer(input: $input) {
      __typename
      ... on CreateTrustedIssuerPayload { trustedIssuer { ...TrustedIssuerFields } }
      ...Refusal
    }
  }
`);

export const UpdateTrustedIssuer = graphql(`
  mutation UpdateTrustedIssuer($input: UpdateTrustedIssuerInput!) {
    updateTrustedIssuer(input: $input) {
      __typename
      ... on UpdateTrustedIssuerPayload { trustedIssuer { ...TrustedIssuerFields } }
      ...Refusal
    }
  }
`);

export const DeleteTrustedIssuer = graphql(`
  mutation DeleteTrustedIssuer($input: DeleteTrustedIssuerInput!) {
    deleteTrustedIssuer(input: $input) {
      __typename
      ... on DeleteTrustedIssuerPayload { trustedIssuer { id } }
      ...Refusal
    }
  }
`);

graphql(`
  fragment CrossAppConnectionFields on CrossAppConnection {
    id
    issuer
    clientId
    scopes
    application { id name }
    version
  }
`);

export const CrossAppConnections = graphql(`
  query CrossAppConnections(
    $first: Int, $after: String, $last: Int, $before: String, $applicationId: ID
  ) {
    crossAppConnections(
      first: $first
      after: $after
      last: $last
      before: $before
      filter: { applicationId: $applicationId }
    ) {
      edges { node { ...CrossAppConnectionFields } }
      pageInfo { ...PageInfo }
    }
  }
`);

export const CrossAppConnection = graphql(`
  query CrossAppConnection($id: ID!) {
    crossAppConnection(id: $id) { ...CrossAppConnectionFields }
  }
`);

export const CreateCrossAppConnection = graphql(`
  mutation CreateCrossAppConnection($input: CreateCrossAppConnectionInput!) {
    createCrossAppConnection(input: $input) {
      __typename
      ... on CreateCrossAppConnectionPayload { crossAppConnection { ...CrossAppConnectionFields } }
      ...Refusal
    }
  }
`);

export const UpdateCrossAppConnection = graphql(`
  mutation UpdateCrossAppConnection($input: UpdateCrossAppConnectionInput!) {
    updateCrossAppConnection(input: $input) {
      __typename
      ... on UpdateCrossAppConnectionPayload { crossAppConnection { ...CrossAppConnectionFields } }
      ...Refusal
    }
  }
`);

export const DeleteCrossAppConnection = graphql(`
  mutation DeleteCrossAppConnection($input: DeleteCrossAppConnectionInput!) {
    deleteCrossAppConnection(input: $input) {
      __typename
      ... on DeleteCrossAppConnectionPayload { crossAppConnection { id } }
      ...Refusal
    }
  }
`);

export const SearchTrustingApplications = graphql(`
  query SearchTrustingApplications($search: String, $types: [ApplicationType!]) {
    applications(first: 20, filter: { search: $search, types: $types }) {
      edges { node { id name description } }
    }
  }
`);
