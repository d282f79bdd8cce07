import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/refusal.ts';

export const SigningKeys = graphql(`
  query SigningKeys {
    signingKeys(first: 100) {
      edges {
        node {
          id algorithm isCurrent status createdAt activeFrom retiredAt expiresAt publicJwk
        }
      }
    }
  }
`);

export const RotateSigningKey = graphql(`
  mutation RotateSigningKey($input: RotateSigningKeyInput!) {
    rotateSigningKey(input: $input) {
      __typename
      ... on RotateSigningKeyPayload { signingKey { id algorithm status activeFrom } }
      ...Refusal
    }
  }
`);

export const DeleteSigningKey = graphql(`
  mutation DeleteSigningKey($input: DeleteSigningKeyInput!) {
    deleteSigningKey(input: $input) {
      __typename
      ... on DeleteSigningKeyPayload { signingKey { id } }
      ...Refusal
    }
  }
`);

export const KeySchedule = graphql(`
  query KeySchedule {
    serviceSettings { signingKeyRotationDays version }
  }
`);

export const UpdateKeySchedule = graphql(`
  mutation UpdateKeySchedule($input: UpdateServiceSettingsInput!) {
    updateServiceSettings(input: $input) {
      __typename
      ... on UpdateServiceSettingsPayload { serviceSettings { signingKeyRotationDays version } }
      ...Refusal
    }
  }
`);
