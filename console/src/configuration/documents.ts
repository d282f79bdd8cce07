import type { PlanConfigurationMutation } from '../generated/graphql.ts';
import { graphql } from '../kit/api/graphql.ts';
import '../kit/api/refusal.ts';

export const ConfigurationDocument = graphql(`
  query ConfigurationDocument($format: ConfigurationFormat!) {
    configuration { document(format: $format) }
  }
`);

graphql(`
  fragment PlanFields on ConfigurationPlan {
    digest
    changes { action kind key fields { path before after } }
    events { type }
    warnings { message }
  }
`);

export const PlanConfiguration = graphql(`
  mutation PlanConfiguration($input: PlanConfigurationInput!) {
    planConfiguration(input: $input) {
      __typename
      ... on PlanConfigurationPayload { plan { ...PlanFields } }
      ...Refusal
    }
  }
`);

export const ApplyConfiguration = graphql(`
  mutation ApplyConfiguration($input: ApplyConfigurationInput!) {
    applyConfiguration(input: $input) {
      __typename
      ... on ApplyConfigurationPayload { plan { ...PlanFields } }
      ...Refusal
    }
  }
`);

/** What a document comes to. */
export type Plan = Extract<
  PlanConfigurationMutation['planConfiguration'],
  { __typename: 'PlanConfigurationPayload' }
>['plan'];
