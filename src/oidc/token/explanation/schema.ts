import { builder } from '../../../graphql/builder.ts';
import { requestError } from '../../../graphql/request-error.ts';
import {
  type ExplainedRule as ExplainedRuleShape,
  type ExplainedScope as ExplainedScopeShape,
  type ExplainedTokenType,
  type Explanation,
  explainExchange,
  maxExplainedScopes,
  ruleNames,
  type ScopeSource as ScopeSourceShape,
} from './explain.ts';

const ruleDescriptions: Readonly<Record<ExplainedRuleShape['rule'], string>> = {
  APPLICATION_SECRET: 'The application exists and has a live secret.',
  EXCHANGE_ALLOWED: 'The application may exchange tokens: `allowTokenExchange`, and its type.',
  SUBJECT_TOKEN_TYPE_ALLOWED:
    'The application may exchange tokens of this type: `allowImpersonation`, `allowPersonalAccessTokens`.',
  USER_ACTIVE: 'The user exists and is not suspended.',
  SUBJECT_AUDIENCE:
    "The access token's `aud` is among `exchangeSubjectAudiences`, unless that is empty.",
  RESOURCE: 'The resource is an absolute URI and is registered.',
  ORGANIZATION: 'The user is a member of the organization, if one is named.',
  RESOURCE_ALLOWED:
    "The resource is among `exchangeResources`; if that is empty, any but Signet's own.",
  RESOURCE_REACHED: 'The subject token can be exchanged for this resource.',
  SCOPE_GRAMMAR: 'The scopes are names without spaces (RFC 6749 §3.3).',
};

const ExchangeRuleEnum = builder.enumType('ExchangeRule', {
  description: 'The rules of a token exchange, in the order in which they are checked.',
  values: Object.fromEntries(
    ruleNames.map((name) => [name, { description: ruleDescriptions[name] }]),
  ) as Record<ExplainedRuleShape['rule'], { description: string }>,
});

const SubjectTokenTypeEnum = builder.enumType('SubjectTokenType', {
  description: 'The types of token that are exchanged: `subject_token_type` (RFC 8693 §2.1).',
  values: {
    ACCESS_TOKEN: {
      description: '`urn:ietf:params:oauth:token-type:access_token`: the token of a user’s call.',
    },
    SUBJECT_TOKEN: {
      description: '`urn:signet:params:oauth:token-type:subject_token`: of `createSubjectToken`.',
    },
    PERSONAL_ACCESS_TOKEN: {
      description:
        '`urn:signet:params:oauth:token-type:personal_access_token`: of `createPersonalAccessToken`.',
    },
  } as const satisfies Record<ExplainedTokenType, object>,
});

const ScopeOutcomeEnum = builder.enumType('ScopeOutcome', {
  description: 'What comes of a requested scope.',
  values: {
    GRANTED: { description: 'The user holds it; it is granted.' },
    UNKNOWN: { description: 'The resource has no such scope; it is left out.' },
    NOT_HELD: { description: 'The user does not hold it; it is left out.' },
    HELD_ELSEWHERE: {
      description: 'The user holds it only in other organizations; it is left out.',
    },
  } as const,
});

const ExplainedRule = builder.objectRef<ExplainedRuleShape>('ExplainedRule').implement({
  description: 'One rule of a token exchange, and whether it is met.',
  fields: (t) => ({
    rule: t.expose('rule', { type: ExchangeRuleEnum, description: 'The rule.' }),
    isMet: t.exposeBoolean('isMet', {
      nullable: true,
      description: 'Whether it is met; null: that depends on the subject token.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'The `error` that the token endpoint answers if it is broken.',
    }),
    errorDescription: t.exposeString('errorDescription', {
      nullable: true,
      description: 'The `error_description` beside it.',
    }),
  }),
});

const ScopeSource = builder.objectRef<ScopeSourceShape>('ScopeSource').implement({
  description: 'A role by which the user holds a scope: their own, or one in an organization.',
  fields: (t) => ({
    roleId: t.exposeID('roleId', { nullable: true, description: "The user's role." }),
    organizationRoleId: t.exposeID('organizationRoleId', {
      nullable: true,
      description: 'The organization role.',
    }),
    organizationId: t.exposeID('organizationId', {
      nullable: true,
      description: 'The organization in which the user has it.',
    }),
    role: t.prismaField({
      type: 'Role',
      nullable: true,
      description: "The user's role.",
      resolve: (query, { roleId }, _args, { database: { prisma } }) =>
        roleId === null ? null : prisma.role.findUnique({ ...query, where: { id: roleId } }),
    }),
    organizationRole: t.prismaField({
      type: 'OrganizationRole',
      nullable: true,
      description: 'The organization role.',
      resolve: (query, { organizationRoleId: id }, _args, { database: { prisma } }) =>
        id === null ? null : prisma.organizationRole.findUnique({ ...query, where: { id } }),
    }),
    organization: t.prismaField({
      type: 'Organization',
      nullable: true,
      description: 'The organization in which the user has it.',
      resolve: (query, { organizationId: id }, _args, { database: { prisma } }) =>
        id === null ? null : prisma.organization.findUnique({ ...query, where: { id } }),
    }),
    counts: t.exposeBoolean('counts', {
      description: 'Whether it counts; an exchange in one organization ignores those of others.',
    }),
  }),
});

const ExplainedScope = builder.objectRef<ExplainedScopeShape>('ExplainedScope').implement({
  description: 'What comes of one scope in a token exchange.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    outcome: t.expose('outcome', { type: ScopeOutcomeEnum, description: 'What comes of it.' }),
    sources: t.field({
      type: [ScopeSource],
      description:
        'Roles by which the user holds it, those that count first: at most 20 of their own, and 20 in organizations. ' +
        'None for the scopes of their own account, which everybody holds.',
      complexity: { field: 1, multiplier: 40 },
      resolve: ({ sources }) => [...sources],
    }),
  }),
});

const TokenExchangeExplanation = builder
  .objectRef<Explanation>('TokenExchangeExplanation')
  .implement({
    description: 'What a token exchange would grant, and why or why not.',
    fields: (t) => ({
      isGranted: t.boolean({
        description: 'Whether a token would be issued: no rule is broken.',
        resolve: ({ rules }) => rules.every(({ isMet }) => isMet !== false),
      }),
      error: t.string({
        nullable: true,
        description: 'The `error` that the token endpoint would answer.',
        resolve: ({ rules }) => rules.find(({ isMet }) => isMet === false)?.error ?? null,
      }),
      errorDescription: t.string({
        nullable: true,
        description: 'The `error_description` beside it.',
        resolve: ({ rules }) =>
          rules.find(({ isMet }) => isMet === false)?.errorDescription ?? null,
      }),
      scope: t.string({
        description: 'The `scope` that a token would have.',
        resolve: ({ scopes }) =>
          scopes
            .filter(({ outcome }) => outcome === 'GRANTED')
            .map(({ name }) => name)
            .join(' '),
      }),
      expiresIn: t.exposeInt('expiresIn', {
        nullable: true,
        description:
          'The lifetime of the token, in seconds, unless the subject token ends sooner; null if there is no such resource.',
      }),
      rules: t.field({
        type: [ExplainedRule],
        description: 'Every rule, in the order in which the token endpoint checks them.',
        resolve: ({ rules }) => [...rules],
      }),
      scopes: t.field({
        type: [ExplainedScope],
        description: 'Every scope that is asked about.',
        resolve: ({ scopes }) => [...scopes],
      }),
    }),
  });

builder.queryField('explainTokenExchange', (t) =>
  t.field({
    type: TokenExchangeExplanation,
    description:
      'Explains what a token exchange would grant, and why or why not, rule by rule. It issues nothing. What does not ' +
      'exist is reported by the rule that it breaks.',
    authScopes: {
      scope: [
        'applications:read',
        'users:read',
        'resources:read',
        'roles:read',
        'organizations:read',
      ],
    },
    args: {
      applicationId: t.arg.id({ required: true, description: 'The application that exchanges.' }),
      userId: t.arg.id({ required: true, description: 'The user on whose behalf.' }),
      resource: t.arg.string({
        required: true,
        description: "The indicator of the resource, or an organization's own.",
      }),
      scopes: t.arg.stringList({
        description: `The scopes asked for, at most ${maxExplainedScopes}. Absent: each of the resource.`,
      }),
      organizationId: t.arg.id({ description: '`organization_id`: limits it to an organization.' }),
      subjectTokenType: t.arg({
        type: SubjectTokenTypeEnum,
        defaultValue: 'ACCESS_TOKEN',
        description: 'The type of the subject token.',
      }),
      subjectAudience: t.arg.string({
        description: 'The `aud` of the subject token, if it is an access token. Absent: not known.',
      }),
    },
    // Each of its lists has at most that many entries.
    complexity: { field: 5, multiplier: maxExplainedScopes },
    resolve: (_root, args, context) => {
      const { applicationId, userId, resource, scopes, organizationId, subjectAudience } = args;
      if (scopes && scopes.length > maxExplainedScopes) {
        throw requestError(
          'BAD_USER_INPUT',
          `"scopes" must have at most ${maxExplainedScopes} entries.`,
        );
      }
      return explainExchange(context, {
        applicationId: String(applicationId),
        userId: String(userId),
        resource,
        scopes: scopes ?? undefined,
        organizationId: organizationId == null ? undefined : String(organizationId),
        subjectTokenType: args.subjectTokenType ?? 'ACCESS_TOKEN',
        subjectAudience: subjectAudience ?? undefined,
      });
    },
  }),
);
