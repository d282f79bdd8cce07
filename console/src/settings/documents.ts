import { graphql } from '../api/graphql.ts';

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
      configuration {
        name
        value
      }
    }
  }
`);
