import type { MessageSendersQuery } from '../generated/graphql.ts';
import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/refusal.ts';

graphql(`
  fragment ExperienceFields on SignInExperience {
    signUpEnabled
    signUpIdentifiers
    signInIdentifiers
    passwordEnabled
    codeEnabled
    passwordPolicy { minLength rejectCommon rejectUserData blocklist }
    codePolicy { ttlSeconds maxAttempts sendLimit sendWindowSeconds }
    lockoutPolicy { maxAttempts windowSeconds lockSeconds }
    factors
    factorPolicy
    sessionPolicy { idleSeconds maxSeconds }
    branding { productName logoUrl primaryColor termsUrl privacyUrl }
    defaultLanguage
    version
  }
`);

export const Experience = graphql(`
  query Experience {
    signInExperience { ...ExperienceFields }
  }
`);

export const UpdateExperience = graphql(`
  mutation UpdateExperience($input: UpdateSignInExperienceInput!) {
    updateSignInExperience(input: $input) {
      __typename
      ... on UpdateSignInExperiencePayload { signInExperience { ...ExperienceFields } }
      ...Refusal
    }
  }
`);

export const MessageSenders = graphql(`
  query MessageSenders {
    messageSenders {
      channel
      kind
      http { url }
      smtp { host port secure username hasPassword from }
      updatedAt
    }
  }
`);

export const SetEmailSender = graphql(`
  mutation SetEmailSender($input: SetEmailSenderInput!) {
    setEmailSender(input: $input) {
      __typename
      ... on SetEmailSenderPayload { messageSender { channel } }
      ...Refusal
    }
  }
`);

export const SetSmsSender = graphql(`
  mutation SetSmsSender($input: SetSmsSenderInput!) {
    setSmsSender(input: $input) {
      __typename
      ... on SetSmsSenderPayload { messageSender { channel } }
      ...Refusal
    }
  }
`);

export const RemoveEmailSender = graphql(`
  mutation RemoveEmailSender($input: RemoveEmailSenderInput!) {
    removeEmailSender(input: $input) { __typename ...Refusal }
  }
`);

export const RemoveSmsSender = graphql(`
  mutation RemoveSmsSender($input: RemoveSmsSenderInput!) {
    removeSmsSender(input: $input) { __typename ...Refusal }
  }
`);

export const SendTestMessage = graphql(`
  mutation SendTestMessage($input: SendTestMessageInput!) {
    sendTestMessage(input: $input) {
      __typename
      ... on SendTestMessagePayload { testMessage { id recipient } }
      ...Refusal
    }
  }
`);

/** A sender of messages, as its section reads it. */
export type ShownSender = MessageSendersQuery['messageSenders'][number];
