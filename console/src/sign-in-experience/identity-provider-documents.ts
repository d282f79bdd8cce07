import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/page-info.ts';
import '../kit/api/refusal.ts';

graphql(`
  fragment IdentityProviderFields on IdentityProvider {
    id
    name
    kind
    issuer
    clientId
    hasClientSecret
    scopes
    emailDomains
    enabled
    redirectUri
    redirectUriState
    version
  }
`);

export const IdentityProviders = graphql(`
  query IdentityProviders($first: Int, $after: String, $last: Int, $before: String) {
    identityProviders(
      first: $first
      after: $after
      last: $last
      before: $before
      orderBy: { field: NAME, direction: ASC }
    ) {
      edges { node { ...IdentityProviderFields } }
      pageInfo { ...PageInfo }
    }
  }
`);

export const IdentityProvider = graphql(`
  query IdentityProvider($id: ID!) {
    identityProvider(id: $id) { ...IdentityProviderFields }
  }
`);

export const CreateIdentityProvider = graphql(`
  mutation CreateIdentityProvider($input: CreateIdentityProviderInput!) {
    createIdentityProvider(input: $input) {
      __typename
      ... on CreateIdentityProviderPayload { identityProvider { ...IdentityProviderFields } }
      ...Refusal
    }
  }
`);

export const UpdateIdentityProvider = graphql(`
  mutation UpdateIdentityProvider($input: UpdateIdentityProviderInput!) {
    updateIdentityProvider(input: $input) {
      __typename
      ... on UpdateIdentityProviderPayload { identityProvider { ...IdentityProviderFields } }
      ...Refusal
    }
  }
`);

export const DeleteIdentityProvider = graphql(`
  mutation DeleteIdentityProvider($input: DeleteIdentityProviderInput!) {
    deleteIdentityProvider(input: $input) {
      __typename
      ... on DeleteIdentityProviderPayload { identityProvider { id } }
      ...Refusal
    }
  }
`);
