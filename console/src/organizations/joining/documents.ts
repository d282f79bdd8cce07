import { graphql } from '../../kit/api/graphql.ts';
import '../../kit/api/page-info.ts';
import '../../kit/api/refusal.ts';

export const Invitations = graphql(`
  query Invitations(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: OrganizationInvitationFilter, $orderBy: OrganizationInvitationOrder
  ) {
    organizationInvitations(
      first: $first, after: $after, last: $last, before: $before
      filter: $filter, orderBy: $orderBy
    ) {
      edges {
        node {
          id
          invitee
          status
          expiresAt
          url
          createdAt
          roles(first: 20) { edges { node { id name } } }
        }
      }
      pageInfo { ...PageInfo }
    }
  }
`);

export const CreateOrganizationInvitation = graphql(`
  mutation CreateOrganizationInvitation($input: CreateOrganizationInvitationInput!) {
    createOrganizationInvitation(input: $input) {
      __typename
      ... on CreateOrganizationInvitationPayload { organizationInvitation { id invitee url expiresAt } }
      ...Refusal
    }
  }
`);

export const UpdateOrganizationInvitationStatus = graphql(`
  mutation UpdateOrganizationInvitationStatus($input: UpdateOrganizationInvitationStatusInput!) {
    updateOrganizationInvitationStatus(input: $input) {
      __typename
      ... on UpdateOrganizationInvitationStatusPayload { organizationInvitation { id status } }
      ...Refusal
    }
  }
`);

export const DeleteOrganizationInvitation = graphql(`
  mutation DeleteOrganizationInvitation($input: DeleteOrganizationInvitationInput!) {
    deleteOrganizationInvitation(input: $input) {
      __typename
      ... on DeleteOrganizationInvitationPayload { organizationInvitation { id } }
      ...Refusal
    }
  }
`);

export const EmailDomains = graphql(`
  query EmailDomains($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    organization(id: $id) {
      id
      emailDomains(first: $first, after: $after, last: $last, before: $before) {
        edges { node { domain createdAt } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const JustInTimeRoles = graphql(`
  query JustInTimeRoles($id: ID!, $after: String) {
    organization(id: $id) {
      id
      version
      jitRoles(first: 100, after: $after) {
        edges { node { id name } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const AddOrganizationEmailDomain = graphql(`
  mutation AddOrganizationEmailDomain($input: AddOrganizationEmailDomainInput!) {
    addOrganizationEmailDomain(input: $input) {
      __typename
      ... on AddOrganizationEmailDomainPayload { organization { id } }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationEmailDomain = graphql(`
  mutation RemoveOrganizationEmailDomain($input: RemoveOrganizationEmailDomainInput!) {
    removeOrganizationEmailDomain(input: $input) {
      __typename
      ... on RemoveOrganizationEmailDomainPayload { organization { id } }
      ...Refusal
    }
  }
`);

export const ReplaceOrganizationJitRoles = graphql(`
  mutation ReplaceOrganizationJitRoles($input: ReplaceOrganizationJitRolesInput!) {
    replaceOrganizationJitRoles(input: $input) {
      __typename
      ... on ReplaceOrganizationJitRolesPayload { organization { id } }
      ...Refusal
    }
  }
`);

export const OrganizationIdentityProviders = graphql(`
  query OrganizationIdentityProviders(
    $id: ID!, $first: Int, $after: String, $last: Int, $before: String
  ) {
    organization(id: $id) {
      id
      identityProviders(first: $first, after: $after, last: $last, before: $before) {
        edges { node { id name kind enabled issuer } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);

export const SearchIdentityProviders = graphql(`
  query SearchIdentityProviders($search: String) {
    identityProviders(first: 20, filter: { search: $search }) { edges { node { id name issuer } } }
  }
`);

export const AddOrganizationIdentityProvider = graphql(`
  mutation AddOrganizationIdentityProvider($input: AddOrganizationIdentityProviderInput!) {
    addOrganizationIdentityProvider(input: $input) {
      __typename
      ... on AddOrganizationIdentityProviderPayload { organization { id } }
      ...Refusal
    }
  }
`);

export const RemoveOrganizationIdentityProvider = graphql(`
  mutation RemoveOrganizationIdentityProvider($input: RemoveOrganizationIdentityProviderInput!) {
    removeOrganizationIdentityProvider(input: $input) {
      __typename
      ... on RemoveOrganizationIdentityProviderPayload { organization { id } }
      ...Refusal
    }
  }
`);
