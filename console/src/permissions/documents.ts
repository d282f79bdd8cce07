import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/page-info.ts';

export const AskedApi = graphql(`
  query AskedApi($id: ID!) {
    resource(id: $id) { id name indicator }
  }
`);

export const AskedOrganization = graphql(`
  query AskedOrganization($id: ID!) {
    organization(id: $id) { id name }
  }
`);

export const SearchAskedApis = graphql(`
  query SearchAskedApis($search: String) {
    resources(first: 20, filter: { search: $search }) { edges { node { id name indicator } } }
  }
`);

export const SearchAskedScopes = graphql(`
  query SearchAskedScopes($search: String, $resourceId: ID) {
    scopes(
      first: 20
      filter: { search: $search, resourceId: $resourceId }
      orderBy: { field: NAME, direction: ASC }
    ) {
      edges { node { id name description } }
    }
  }
`);

graphql(`
  fragment Source on ScopeSource {
    role { id name }
    organizationRole { id name }
    organization { id name }
  }
`);

export const WhoCan = graphql(`
  query WhoCan(
    $resource: String!, $scope: String!, $organizationId: ID
    $first: Int, $after: String, $last: Int, $before: String
  ) {
    whoCan(
      resource: $resource, scope: $scope, organizationId: $organizationId
      first: $first, after: $after, last: $last, before: $before
    ) {
      edges {
        node {
          subjectId
          subject {
            __typename
            ... on User { id name username primaryEmail primaryPhone }
            ... on Application { id applicationName: name }
          }
          sources { ...Source }
        }
      }
      pageInfo { ...PageInfo }
    }
  }
`);

export const Permissions = graphql(`
  query Permissions($subjectId: ID!, $resource: String!, $organizationId: ID) {
    permissions(subjectId: $subjectId, resource: $resource, organizationId: $organizationId) {
      scope { id name description }
      sources { ...Source }
    }
  }
`);
