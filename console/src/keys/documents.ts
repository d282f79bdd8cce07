import { graphql } from '../api/graphql.ts';
import '../api/refusal.ts';

export const SigningKeys = graphql(`
  query SigningKeys {
    signingKeys(first: 100) {
      edges {
        node {
          id
          algorithm
          isCurrent
          createdAt
          retiredAt
          expiresAt
          publicJwk
        }
      }
    }
  }
`);

export const RotateSigningKey = graphql(`
  mutation RotateSigningKey($input: RotateSigningKeyInput!) {
    rotateSigningKey(input: $input) {
      __typename
      ... on RotateSigningKeyPayload {
        signingKey {
          id
          algorithm
        }
      }
    }
  }
`);

export const DeleteSigningKey = graphql(`
  mutation DeleteSigningKey($input: DeleteSigningKeyInput!) {
    deleteSigningKey(input: $input) {
      __typename
      ... on DeleteSigningKeyPayload {
        signingKey {
          id
        }
      }
      ...Refusal
    }
  }
`);
