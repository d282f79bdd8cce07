import { graphql } from '../../kit/api/graphql.ts';
import '../../kit/api/page-info.ts';
import '../../kit/api/refusal.ts';

export const UserIdentities = graphql(`
  query UserIdentities($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    user(id: $id) {
      id
      identities(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            subject
            email
            linkedAt
            provider { id name }
          }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const DeleteUserIdentity = graphql(`
  mutation DeleteUserIdentity($input: DeleteUserIdentityInput!) {
    deleteUserIdentity(input: $input) {
      __typename
      ... on DeleteUserIdentityPayload { user { id } }
      ...Refusal
    }
  }
`);

export const PersonalAccessTokens = graphql(`
  query PersonalAccessTokens($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    user(id: $id) {
      id
      personalAccessTokens(first: $first, after: $after, last: $last, before: $before) {
        edges { node { id name resource scopes expiresAt lastUsedAt } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const CreatePersonalAccessToken = graphql(`
  mutation CreatePersonalAccessToken($input: CreatePersonalAccessTokenInput!) {
    createPersonalAccessToken(input: $input) {
      __typename
      ... on CreatePersonalAccessTokenPayload {
        personalAccessToken { id name }
        token
      }
      ...Refusal
    }
  }
`);

export const DeletePersonalAccessToken = graphql(`
  mutation DeletePersonalAccessToken($input: DeletePersonalAccessTokenInput!) {
    deletePersonalAccessToken(input: $input) {
      __typename
      ... on DeletePersonalAccessTokenPayload { personalAccessToken { id } }
      ...Refusal
    }
  }
`);

export const UserGrants = graphql(`
  query UserGrants($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    user(id: $id) {
      id
      grants(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            scopes
            createdAt
            application { id name }
          }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const RevokeUserGrant = graphql(`
  mutation RevokeUserGrant($input: RevokeUserGrantInput!) {
    revokeUserGrant(input: $input) {
      __typename
      ... on RevokeUserGrantPayload { grant { id } }
      ...Refusal
    }
  }
`);

export const SubjectTokens = graphql(`
  query SubjectTokens($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    user(id: $id) {
      id
      subjectTokens(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            reason
            createdAt
            usedAt
            usedById
            actor { type id clientId }
          }
        }
        pageInfo { ...PageInfo }
      }
    }
  }
`);
