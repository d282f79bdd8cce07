import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/refusal.ts';

export const ServiceSettings = graphql(`
  query ServiceSettings {
    service {
      version
      baseUrl
      issuer
      startedAt
      nodeId
      nodeVersion
      database
      databaseVersion
      configuration { name value }
    }
  }
`);

export const ProofSettings = graphql(`
  query ProofSettings {
    serviceSettings { dpopNonce version }
  }
`);

export const UpdateProofSettings = graphql(`
  mutation UpdateProofSettings($input: UpdateServiceSettingsInput!) {
    updateServiceSettings(input: $input) {
      __typename
      ... on UpdateServiceSettingsPayload { serviceSettings { dpopNonce version } }
      ...Refusal
    }
  }
`);
