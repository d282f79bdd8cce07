import { graphql } from '../kit/api/graphql.ts';

export const Counts = graphql(`
  query Counts(
    $users: Boolean!, $roles: Boolean!, $resources: Boolean!, $applications: Boolean!
    $organizations: Boolean!, $webhooks: Boolean!
  ) {
    users @include(if: $users) { totalCount }
    organizations @include(if: $organizations) { totalCount }
    applications @include(if: $applications) { totalCount }
    resources @include(if: $resources) { totalCount }
    roles @include(if: $roles) { totalCount }
    webhooks @include(if: $webhooks) { totalCount }
  }
`);

// The newest few are enough: what Signet creates itself is older.
export const SetUp = graphql(`
  query SetUp(
    $users: Boolean!, $resources: Boolean!, $applications: Boolean!, $webhooks: Boolean!
    $experience: Boolean!
  ) {
    resources(first: 3) @include(if: $resources) { edges { node { id indicator } } }
    applications(first: 5) @include(if: $applications) { edges { node { id name } } }
    users(first: 2) @include(if: $users) { edges { node { id } } }
    messageSenders @include(if: $experience) { channel }
    webhooks(first: 1) @include(if: $webhooks) { edges { node { id } } }
  }
`);

export const RunningService = graphql(`
  query RunningService {
    service {
      version nodeId nodeVersion database databaseVersion startedAt previousSecret
      nodes { name version isThis differsIn }
    }
  }
`);

export const Health = graphql(`
  query Health(
    $webhooks: Boolean!, $experience: Boolean!, $events: Boolean!, $all: Boolean!
  ) {
    webhooks(first: 100, filter: { enabled: true }) @include(if: $webhooks) {
      edges { node { id name failingSince } }
    }
    messageSenders @include(if: $experience) { channel }
    events(last: 100, types: [IDENTIFIER_LOCKOUT]) @include(if: $events) {
      edges { node { id occurredAt } }
    }
    service @include(if: $events) { previousSecret nodes { name differsIn } }
    signingKeys(first: 10) @include(if: $all) { edges { node { id createdAt retiredAt } } }
  }
`);
