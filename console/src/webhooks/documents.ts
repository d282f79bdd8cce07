import type { DeliveryFieldsFragment, WebhookFieldsFragment } from '../generated/graphql.ts';
import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/page-info.ts';
import '../kit/api/refusal.ts';

export const Webhooks = graphql(`
  query Webhooks(
    $first: Int, $after: String, $last: Int, $before: String
    $filter: WebhookFilter, $orderBy: WebhookOrder
  ) {
    webhooks(
      first: $first, after: $after, last: $last, before: $before
      filter: $filter, orderBy: $orderBy
    ) {
      edges { node { id name url enabled failingSince disabledReason events createdAt } }
      pageInfo { ...PageInfo }
    }
  }
`);

graphql(`
  fragment WebhookFields on Webhook {
    id
    name
    url
    enabled
    failingSince
    disabledReason
    events
    query
    headers
    maxInFlight
    version
    createdAt
    updatedAt
  }
`);

export const Webhook = graphql(`
  query Webhook($id: ID!) {
    webhook(id: $id) { ...WebhookFields }
  }
`);

export const FollowWebhook = graphql(`
  subscription FollowWebhook($id: ID!) {
    webhook(id: $id) { ...WebhookFields }
  }
`);

export const CreateWebhook = graphql(`
  mutation CreateWebhook($input: CreateWebhookInput!) {
    createWebhook(input: $input) {
      __typename
      ... on CreateWebhookPayload {
        webhook { ...WebhookFields }
        secret
      }
      ...Refusal
    }
  }
`);

export const UpdateWebhook = graphql(`
  mutation UpdateWebhook($input: UpdateWebhookInput!) {
    updateWebhook(input: $input) {
      __typename
      ... on UpdateWebhookPayload { webhook { ...WebhookFields } }
      ...Refusal
    }
  }
`);

export const DeleteWebhook = graphql(`
  mutation DeleteWebhook($input: DeleteWebhookInput!) {
    deleteWebhook(input: $input) {
      __typename
      ... on DeleteWebhookPayload { webhook { id } }
      ...Refusal
    }
  }
`);

export const RotateWebhookSecret = graphql(`
  mutation RotateWebhookSecret($input: RotateWebhookSecretInput!) {
    rotateWebhookSecret(input: $input) {
      __typename
      ... on RotateWebhookSecretPayload {
        webhook { id updatedAt }
        secret
      }
      ...Refusal
    }
  }
`);

export const TestWebhook = graphql(`
  mutation TestWebhook($input: TestWebhookInput!) {
    testWebhook(input: $input) {
      __typename
      ... on TestWebhookPayload { delivery { id } }
      ...Refusal
    }
  }
`);

export const ReplayEvents = graphql(`
  mutation ReplayEvents($input: ReplayEventsInput!) {
    replayEvents(input: $input) {
      __typename
      ... on ReplayEventsPayload { deliveryCount }
      ...Refusal
    }
  }
`);

export const Redeliver = graphql(`
  mutation Redeliver($input: RedeliverInput!) {
    redeliver(input: $input) {
      __typename
      ... on RedeliverPayload { delivery { id } }
      ...Refusal
    }
  }
`);

// Without the answers, which can be megabytes for a page.
graphql(`
  fragment DeliveryFields on Delivery {
    id
    eventType
    isTest
    status
    createdAt
    updatedAt
    nextAttemptAt
    attempts { at durationMs statusCode error }
    event @include(if: $canReadEvents) { id type data }
  }
`);

export const DeliveryPage = graphql(`
  query DeliveryPage(
    $id: ID!, $first: Int!, $after: String, $filter: DeliveryFilter, $canReadEvents: Boolean!
  ) {
    webhook(id: $id) {
      deliveries(first: $first, after: $after, filter: $filter) {
        cursor
        edges {
          cursor
          node { ...DeliveryFields }
        }
        pageInfo { hasNextPage }
      }
    }
  }
`);

export const FollowDeliveries = graphql(`
  subscription FollowDeliveries($id: ID!, $after: String, $canReadEvents: Boolean!) {
    webhookDeliveries(webhookId: $id, after: $after) { ...DeliveryFields }
  }
`);

export const DeliveryById = graphql(`
  query DeliveryById($id: ID!, $canReadEvents: Boolean!) {
    node(id: $id) {
      __typename
      ... on Delivery {
        id
        eventType
        isTest
        status
        createdAt
        updatedAt
        nextAttemptAt
        attempts { at durationMs statusCode error responseBody }
        event @include(if: $canReadEvents) {
          id
          name
          occurredAt
          actor { type id clientId }
          data
        }
      }
    }
  }
`);

/** A webhook as its page reads it. */
export type ShownWebhook = WebhookFieldsFragment;

/** A delivery as the list reads it. */
export type ListedDelivery = DeliveryFieldsFragment;
