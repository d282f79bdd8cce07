import { setterScopesDescription } from '../../auth/granting/setter-scopes.ts';
import { InvalidInputError, NotAllowedError, NotFoundError } from '../../errors.ts';
import type { TrustedIssuerKind } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { addRecordQueries, orders } from '../../graphql/lists/record-queries.ts';
import type { InputFields } from '../../graphql/mutations/mutation.ts';
import { recordMutations } from '../../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../../graphql/mutations/versions.ts';
import {
  type ClaimRule as ClaimRuleShape,
  defaultLifetimeSeconds,
  maxClaimRules,
  maxLifetimeSeconds,
} from './fields.ts';
import { createTrustedIssuer, deleteTrustedIssuer, updateTrustedIssuer } from './operations.ts';
import { rulesOf } from './payload.ts';

const KindEnum = builder.enumType('TrustedIssuerKind', {
  description: 'What the assertions of a trusted issuer are about.',
  values: {
    WORKLOAD: {
      description:
        'A program: a pipeline, a service account of Kubernetes, SPIFFE. It gets the application’s own tokens, without a secret.',
    },
    IDENTITY: {
      description:
        'A person (`oauth-id-jag+jwt`). The application, which authenticates, gets tokens of the user who is linked to the `sub`.',
    },
  } as const satisfies Record<keyof typeof TrustedIssuerKind, object>,
});

const ruleDescriptions = {
  claim: 'The name of a claim at the top level, such as `sub` or `repository`.',
  equals: 'Its value: the text, or the JSON of a number or a boolean.',
};

const ClaimRule = builder.objectRef<ClaimRuleShape>('ClaimRule').implement({
  description: 'What a claim of an assertion has to be.',
  fields: (t) => ({
    claim: t.exposeString('claim', { description: ruleDescriptions.claim }),
    equals: t.exposeString('equals', { description: ruleDescriptions.equals }),
  }),
});

const ClaimRuleInput = builder.inputType('ClaimRuleInput', {
  description: 'What a claim of an assertion has to be.',
  fields: (t) => ({
    claim: t.string({ required: true, description: ruleDescriptions.claim }),
    equals: t.string({ required: true, description: ruleDescriptions.equals }),
  }),
});

const lifetimeDescription = `How far ahead an assertion may expire, in seconds: ${defaultLifetimeSeconds} by default, at most ${maxLifetimeSeconds}; for IDENTITY at most ${defaultLifetimeSeconds}.`;

const TrustedIssuer = builder.prismaNode('TrustedIssuer', {
  nullable: true,
  id: { field: 'id', description: "The trusted issuer's id: a TypeID with the prefix `issuer`." },
  description:
    'Somebody else’s issuer, whose assertions get tokens for one application (RFC 7523 §2.1).',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    issuer: t.exposeString('issuer', { description: 'The `iss` of its assertions.' }),
    jwksUri: t.exposeString('jwksUri', {
      description: 'Where the public keys are that sign its assertions (RFC 7517).',
    }),
    kind: t.expose('kind', { type: KindEnum, description: 'What its assertions are about.' }),
    claimRules: t.field({
      type: [ClaimRule],
      description: 'What the claims of each assertion have to be: all of it.',
      resolve: rulesOf,
    }),
    application: t.relation('application', {
      description: 'The application that gets tokens by its assertions.',
    }),
    maxLifetimeSeconds: t.exposeInt('maxLifetimeSeconds', { description: lifetimeDescription }),
    requireJti: t.exposeBoolean('requireJti', {
      description:
        'Whether each assertion needs a `jti`, and so counts once. One that has a `jti` counts once in any case.',
    }),
    setterScopes: t.exposeStringList('setterScopes', { description: setterScopesDescription }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

addRecordQueries(TrustedIssuer, {
  names: ['trustedIssuer', 'trustedIssuers'],
  noun: 'trusted issuer',
  scope: 'applications:read',
  search: { columns: ['name', 'issuer', 'id'], description: 'the name, the issuer or the id' },
  filter: (t) => ({
    applicationId: t.id({ description: 'Gets tokens for this application.' }),
  }),
  where: ({ applicationId }) => ({ applicationId: applicationId ?? undefined }),
  order: { CREATED_AT: orders.byCreation, NAME: orders.byName },
});

const mutations = recordMutations('trustedIssuer', TrustedIssuer, {
  scope: 'applications:write',
  noun: 'trusted issuer',
});

const inputFields = (t: InputFields, required: boolean) => ({
  name: t.string({ required, description: 'At most 128 characters.' }),
  issuer: t.string({
    required,
    description: 'The `iss` of its assertions, letter for letter: a URL, not of this service.',
  }),
  jwksUri: t.string({
    required,
    description: 'Where its public keys are: an https URL with a public address.',
  }),
  kind: t.field({ type: KindEnum, required, description: 'What its assertions are about.' }),
  claimRules: t.field({
    type: [ClaimRuleInput],
    description: `What the claims of each assertion have to be, at most ${maxClaimRules}. For WORKLOAD at least one about another claim than \`iss\`, \`aud\`, \`exp\`, \`nbf\`, \`iat\` and \`jti\`.`,
  }),
  applicationId: t.id({
    required,
    description:
      'The application that gets tokens: for WORKLOAD of type MACHINE_TO_MACHINE, for IDENTITY one that authenticates.',
  }),
  maxLifetimeSeconds: t.int({ description: lifetimeDescription }),
  requireJti: t.boolean({
    description: 'Whether each assertion needs a `jti`: true by default. Always for IDENTITY.',
  }),
});

const errors = [InvalidInputError, NotFoundError, NotAllowedError] as const;

mutations.add('createTrustedIssuer', {
  description:
    'Trusts an issuer, whose assertions get tokens for an application from now on. Raises `TrustedIssuer.Created`.',
  input: (t) => inputFields(t, true),
  errors,
  // GraphQL requires what the type of `inputFields` leaves optional.
  operation: (context, input) => createTrustedIssuer(context, input as never),
});

mutations.add('updateTrustedIssuer', {
  description:
    'Changes a trusted issuer. An absent field stays as it is; null restores its default. Raises `TrustedIssuer.Data.Updated` if something changed.',
  input: (t) => ({ id: mutations.id(t), ...inputFields(t, false) }),
  errors,
  operation: (context, input) => updateTrustedIssuer(context, input),
});

mutations.addDeletion('deleteTrustedIssuer', {
  description:
    'Trusts an issuer no longer. Its assertions are refused from now on, and the tokens that were issued for them. Raises `TrustedIssuer.Deleted`.',
  model: ({ trustedIssuer }) => trustedIssuer,
  operation: deleteTrustedIssuer,
});
