import { expect } from 'vitest';
import type { ConfigurationKind, PlanConfigurationInput } from '../../generated/graphql.ts';
import { ask, graphql, payload } from './graphql.ts';

type Endpoint = { readonly url: string; readonly token?: string | undefined };

const Read = graphql(`
  query ReadConfiguration { configuration { document digest } }
`);

/** The configuration of a service: its document as YAML, and its digest. */
export const readConfiguration = async (endpoint: Endpoint) =>
  (await ask(endpoint, Read)).configuration;

const planFields = graphql(`
  fragment PlanFields on ConfigurationPlan {
    digest
    changes { action kind key fields { path before after } }
    events { type }
    warnings { message }
  }
`);
void planFields;

const Plan = graphql(`
  mutation PlanConfiguration($input: PlanConfigurationInput!) {
    planConfiguration(input: $input) {
      __typename
      ... on PlanConfigurationPayload { plan { ...PlanFields } }
      ... on Error { code message }
      ... on InvalidInputError { issues { path message } }
      ... on ConfigurationMovedError { currentDigest }
    }
  }
`);

const Apply = graphql(`
  mutation ApplyConfiguration($input: ApplyConfigurationInput!) {
    applyConfiguration(input: $input) {
      __typename
      ... on ApplyConfigurationPayload { plan { ...PlanFields } }
      ... on Error { code message }
      ... on InvalidInputError { issues { path message } }
      ... on ConfigurationMovedError { currentDigest }
    }
  }
`);

/** What the mutations take beside the document. */
type Options = { readonly prune?: ConfigurationKind[]; readonly expectedDigest?: string };

const inputOf = (document: unknown, options: Options = {}): PlanConfigurationInput => ({
  document:
    typeof document === 'string'
      ? document
      : JSON.stringify({ signet: 1, ...(document as object) }),
  ...options,
});

/** The answer to a plan of a document: YAML, or an object without its first line. */
export const askPlan = async (endpoint: Endpoint, document: unknown, options?: Options) =>
  (await ask(endpoint, Plan, { input: inputOf(document, options) })).planConfiguration;

/** The plan of a document; a refusal fails the test. */
export const plan = async (endpoint: Endpoint, document: unknown, options?: Options) =>
  payload(await askPlan(endpoint, document, options), 'PlanConfigurationPayload').plan;

/** The answer to a document that is applied. */
export const askApply = async (endpoint: Endpoint, document: unknown, options?: Options) =>
  (await ask(endpoint, Apply, { input: inputOf(document, options) })).applyConfiguration;

/** Applies a document; a refusal fails the test. */
export const apply = async (endpoint: Endpoint, document: unknown, options?: Options) =>
  payload(await askApply(endpoint, document, options), 'ApplyConfigurationPayload').plan;

/** Expects that an answer names faults at these paths, and no others. */
export function expectFaultsAt(answer: { __typename?: string }, paths: readonly string[]): void {
  expect(answer).toMatchObject({ __typename: 'InvalidInputError' });
  const { issues } = answer as unknown as { issues: readonly { path: readonly string[] }[] };
  expect(issues.map(({ path }) => path.join('.')).sort()).toEqual([...paths].sort());
}
