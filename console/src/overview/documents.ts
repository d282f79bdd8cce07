import { graphql } from '../api/graphql.ts';

export const Counts = graphql(`
  query Counts(
    $users: Boolean!
    $roles: Boolean!
    $resources: Boolean!
    $applications: Boolean!
    $organizations: Boolean!
    $webhooks: Boolean!
  ) {
    users @include(if: $users) {
      totalCount
    }
    organizations @include(if: $organizations) {
      totalCount
    }
    applications @include(if: $applications) {
      totalCount
    }
    resources @include(if: $resources) {
      totalCount
    }
    roles @include(if: $roles) {
      totalCount
    }
    webhooks @include(if: $webhooks) {
      totalCount
    }
  }
`);

// The newest few do: what Signet makes itself is older.
export const SetUp = graphql(`
  query SetUp(
    $users: Boolean!
    $resources: Boolean!
    $applications: Boolean!
    $webhooks: Boolean!
    $experience: Boolean!
  ) {
    resources(first: 3) @include(if: $resources) {
      edges {
        node {
          id
          indicator
        }
      }
    }
    applications(first: 5) @include(if: $applications) {
      edges {
        node {
          id
          name
          redirectUris
        }
      }
    }
    users(first: 2) @include(if: $users) {
      edges {
        node {
          id
        }
      }
    }
    messageSenders @include(if: $experience) {
      channel
    }
    webhooks(first: 1) @include(if: $webhooks) {
      edges {
        node {
          id
        }
      }
    }
  }
`);

export const Figures = graphql(`
  query Figures {
    statistics {
      minutes(last: 60) {
        at
        signIns
        exchanges
        refusedExchanges
        mutations
        deliveries
        failedDeliveries
      }
    }
  }
`);

export const RunningService = graphql(`
  query RunningService {
    service {
      version
      nodeId
      nodeVersion
      database
      databaseVersion
      startedAt
    }
  }
`);
