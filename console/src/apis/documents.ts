import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/page-info.ts';
import '../kit/api/refusal.ts';

export const Apis = graphql(`
  query Apis(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: ResourceFilter, $orderBy: ResourceOrder
  ) {
    resources(
      first: $first, after: $after, last: $last, before: $before
      filter: $filter, orderBy: $orderBy
    ) {
      edges { node { id name indicator accessTokenTtlSeconds createdAt } }
      pageInfo { ...PageInfo }
    }
  }
`);

graphql(`
  fragment ApiFields on Resource {
    id
    name
    indicator
    accessTokenTtlSeconds
    signingAlg
    version
    createdAt
    updatedAt
  }
`);

export const Api = graphql(`
  query Api($id: ID!) {
    resource(id: $id) { ...ApiFields }
  }
`);

export const CreateApi = graphql(`
  mutation CreateApi($input: CreateResourceInput!) {
    createResource(input: $input) {
      __typename
      ... on CreateResourcePayload { resource { ...ApiFields } }
      ...Refusal
    }
  }
`);

export const UpdateApi = graphql(`
  mutation UpdateApi($input: UpdateResourceInput!) {
    updateResource(input: $input) {
      __typename
      ... on UpdateResourcePayload { resource { ...ApiFields } }
      ...Refusal
    }
  }
`);

export const DeleteApi = graphql(`
  mutation DeleteApi($input: DeleteResourceInput!) {
    deleteResource(input: $input) {
      __typename
      ... on DeleteResourcePayload { resource { id } }
      ...Refusal
    }
  }
`);

export const ApiScopes = graphql(`
  query ApiScopes($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    resource(id: $id) {
      id
      scopes(first: $first, after: $after, last: $last, before: $before) {
        edges { node { id name description version } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const ApiScope = graphql(`
  query ApiScope($id: ID!) {
    scope(id: $id) { id name description version }
  }
`);

export const CreateScope = graphql(`
  mutation CreateScope($input: CreateScopeInput!) {
    createScope(input: $input) {
      __typename
      ... on CreateScopePayload { scope { id name description version } }
      ...Refusal
    }
  }
`);

export const UpdateScope = graphql(`
  mutation UpdateScope($input: UpdateScopeInput!) {
    updateScope(input: $input) {
      __typename
      ... on UpdateScopePayload { scope { id name description version } }
      ...Refusal
    }
  }
`);

export const DeleteScope = graphql(`
  mutation DeleteScope($input: DeleteScopeInput!) {
    deleteScope(input: $input) {
      __typename
      ... on DeleteScopePayload { scope { id } }
      ...Refusal
    }
  }
`);
