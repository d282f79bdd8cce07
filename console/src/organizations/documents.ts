import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/page-info.ts';
import '../kit/api/refusal.ts';

export const Organizations = graphql(`
  query Organizations(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: OrganizationFilter, $orderBy: OrganizationOrder
  ) {
    organizations(
      first: $first, after: $after, last: $last, before: $before
      filter: $filter, orderBy: $orderBy
    ) {
      edges { node { id name description createdAt updatedAt } }
      pageInfo { ...PageInfo }
    }
  }
`);

graphql(`
  fragment OrganizationDetails on Organization {
    id
    name
    description
    customData
    requiresFactor
    version
    createdAt
    updatedAt
  }
`);

export const Organization = graphql(`
  query Organization($id: ID!) {
    organization(id: $id) { ...OrganizationDetails }
  }
`);

export const CreateOrganization = graphql(`
  mutation CreateOrganization($input: CreateOrganizationInput!) {
    createOrganization(input: $input) {
      __typename
      ... on CreateOrganizationPayload { organization { ...OrganizationDetails } }
      ...Refusal
    }
  }
`);

export const UpdateOrganization = graphql(`
  mutation UpdateOrganization($input: UpdateOrganizationInput!) {
    updateOrganization(input: $input) {
      __typename
      ... on UpdateOrganizationPayload { organization { ...OrganizationDetails } }
      ...Refusal
    }
  }
`);

export const DeleteOrganization = graphql(`
  mutation DeleteOrganization($input: DeleteOrganizationInput!) {
    deleteOrganization(input: $input) {
      __typename
      ... on DeleteOrganizationPayload { organization { id } }
      ...Refusal
    }
  }
`);
