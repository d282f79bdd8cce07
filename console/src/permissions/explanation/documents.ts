import { graphql } from '../../kit/api/graphql.ts';
import '../../kit/api/refusal.ts';

// Of an application that has to prove a key, it tells what a request with a proof gets.
export const ExplainTokenExchange = graphql(`
  query ExplainTokenExchange(
    $applicationId: ID!, $userId: ID!, $resource: String!, $organizationId: ID
    $subjectTokenType: SubjectTokenType!, $subjectClientId: ID
  ) {
    explainTokenExchange(
      applicationId: $applicationId, userId: $userId, resource: $resource
      organizationId: $organizationId, subjectTokenType: $subjectTokenType, subjectClientId: $subjectClientId
      provenKey: OTHER_KEY
    ) {
      isGranted
      error
      errorDescription
      expiresIn
      rules { rule isMet errorDescription }
      scopes {
        name
        outcome
        sources {
          counts
          role { id name }
          organizationRole { id name }
          organization { id name }
        }
      }
    }
  }
`);

export const ExplainedUser = graphql(`
  query ExplainedUser($id: ID!) {
    user(id: $id) { id name username primaryEmail primaryPhone }
  }
`);

export const ExplainedApplication = graphql(`
  query ExplainedApplication($id: ID!) {
    application(id: $id) { id name }
  }
`);

export const SearchExplainedApplications = graphql(`
  query SearchExplainedApplications($search: String) {
    applications(first: 20, filter: { search: $search }) { edges { node { id name description } } }
  }
`);

export const AllowInExchange = graphql(`
  mutation AllowInExchange($input: UpdateApplicationInput!) {
    updateApplication(input: $input) {
      __typename
      ... on UpdateApplicationPayload {
        application { id allowTokenExchange allowImpersonation allowPersonalAccessTokens }
      }
      ...Refusal
    }
  }
`);
