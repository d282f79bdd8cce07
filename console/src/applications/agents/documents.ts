import { graphql } from '../../kit/api/graphql.ts';
import '../../kit/api/page-info.ts';
import '../../kit/api/refusal.ts';

export const Agents = graphql(`
  query Agents(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: ApplicationFilter, $orderBy: ApplicationOrder, $seesPeople: Boolean!
  ) {
    applications(
      first: $first, after: $after, last: $last, before: $before
      filter: $filter, orderBy: $orderBy
    ) {
      edges {
        node {
          id
          name
          origin
          metadataUrl
          redirectUris
          lastUsedAt
          createdAt
          grants(first: 0) @include(if: $seesPeople) { totalCount }
        }
      }
      pageInfo { ...PageInfo }
    }
  }
`);

export const ApplicationGrants = graphql(`
  query ApplicationGrants($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    application(id: $id) {
      id
      grants(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            scopes
            createdAt
            lastUsedAt
            user { id name username primaryEmail primaryPhone }
          }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const RevokeApplicationGrant = graphql(`
  mutation RevokeApplicationGrant($input: RevokeUserGrantInput!) {
    revokeUserGrant(input: $input) {
      __typename
      ... on RevokeUserGrantPayload { grant { id } }
      ...Refusal
    }
  }
`);

export const Admission = graphql(`
  query Admission {
    serviceSettings {
      version
      clientRegistration { metadataDocuments metadataHosts dynamic }
    }
  }
`);

export const UpdateAdmission = graphql(`
  mutation UpdateAdmission($input: UpdateServiceSettingsInput!) {
    updateServiceSettings(input: $input) {
      __typename
      ... on UpdateServiceSettingsPayload {
        serviceSettings {
          version
          clientRegistration { metadataDocuments metadataHosts dynamic }
        }
      }
      ...Refusal
    }
  }
`);

export const CreateRegistrationToken = graphql(`
  mutation CreateRegistrationToken($input: CreateRegistrationTokenInput!) {
    createRegistrationToken(input: $input) {
      __typename
      ... on CreateRegistrationTokenPayload {
        registrationToken { id }
        token
      }
      ...Refusal
    }
  }
`);

export const RegistrationTokens = graphql(`
  query RegistrationTokens($first: Int, $after: String, $last: Int, $before: String) {
    registrationTokens(first: $first, after: $after, last: $last, before: $before) {
      edges { node { id uses maxUses expiresAt } }
      pageInfo { ...PageInfo }
    }
  }
`);

export const DeleteRegistrationToken = graphql(`
  mutation DeleteRegistrationToken($input: DeleteRegistrationTokenInput!) {
    deleteRegistrationToken(input: $input) {
      __typename
      ... on DeleteRegistrationTokenPayload { registrationToken { id } }
      ...Refusal
    }
  }
`);
