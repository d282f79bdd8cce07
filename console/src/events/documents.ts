import type { EventFieldsFragment } from '../generated/graphql.ts';
import { graphql } from '../kit/api/graphql.ts';

graphql(`
  fragment EventFields on Event {
    id
    cursor
    type
    name
    occurredAt
    actor { type id clientId }
    ip
    userAgent
    traceId
    data
  }
`);

export const FollowEvents = graphql(`
  subscription FollowEvents($after: String, $types: [EventType!], $subjectId: ID, $actorId: ID) {
    events(after: $after, types: $types, subjectId: $subjectId, actorId: $actorId) {
      ...EventFields
    }
  }
`);

export const EventPage = graphql(`
  query EventPage(
    $last: Int!, $before: String, $types: [EventType!], $subjectId: ID, $actorId: ID
    $since: DateTime, $until: DateTime
  ) {
    events(
      last: $last, before: $before, types: $types, subjectId: $subjectId, actorId: $actorId
      since: $since, until: $until
    ) {
      edges { node { ...EventFields } }
      pageInfo { hasPreviousPage }
    }
  }
`);

export const LogTip = graphql(`
  query LogTip {
    events(last: 1) { pageInfo { endCursor } }
  }
`);

export const EventById = graphql(`
  query EventById($id: ID!) {
    node(id: $id) {
      __typename
      ... on Event { ...EventFields }
    }
  }
`);

export const NamesOf = graphql(`
  query NamesOf($ids: [ID!]!) {
    nodes(ids: $ids) {
      __typename
      id
      ... on User { fullName: name username primaryEmail }
      ... on Application { name }
      ... on Organization { name }
      ... on OrganizationRole { name }
      ... on Role { name }
      ... on Resource { name }
    }
  }
`);

/** An event of the log. */
export type LoggedEvent = EventFieldsFragment;
