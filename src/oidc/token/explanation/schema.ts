import type { MayActClaim } from '../../../auth/access-token.ts';
import { builder } from '../../../graphql/builder.ts';
import { requestError } from '../../../graphql/request-error.ts';
import {
  ScopeSource,
  sourcesCost,
  sourcesDescription,
} from '../../../permissions/source-schema.ts';
import { type ExchangeRule, ruleNames } from '../exchange-rules.ts';
import {
  type ExplainedRule as ExplainedRuleShape,
  type ExplainedScope as ExplainedScopeShape,
  type ExplainedTokenType,
  type Explanation,
  explainExchange,
  maxExplainedScopes,
  type ProvenKey,
} from './explain.ts';

const ruleDescriptions: Readonly<Record<ExchangeRule, string>> = {
  REQUEST:
    'The request has its parameters, each in its form. It depends on the request, so only events name it.',
  APPLICATION_SECRET: 'The application exists and has a live secret, or keys.',
  EXCHANGE_ALLOWED: 'The application may exchange tokens: `allowTokenExchange`, and its type.',
  SUBJECT_TOKEN_TYPE_ALLOWED:
    'The application may exchange tokens of this type: `allowImpersonation`, `allowPersonalAccessTokens`.',
  KEY_PROVEN:
    'The request proves to have a key if the application has `requireDpop`, and a proof that it brings is good (DPoP, RFC 9449). An explanation takes a proof for good.',
  SUBJECT_TOKEN:
    'The subject token is genuine and still good. It depends on the token, so an explanation names it only if `subjectClientId` does not exist.',
  USER_ACTIVE: 'The user exists and is not suspended.',
  SUBJECT_AUDIENCE:
    "The access token's `aud` is among `exchangeSubjectAudiences`, unless that is empty.",
  SUBJECT_CONSENT:
    'The subject token was not issued to a third-party application nor created through one, nor does it come from such a token, unless `exchangeThirdPartySubjectTokens` allows it.',
  SUBJECT_KEY_PROVEN:
    'If the subject token is bound to a key, the request proves to have it, unless `mayRebindTokens` allows another.',
  BINDING_KEPT: 'If the subject token is bound to a key, the new token is bound to one too.',
  ACTOR_TOKEN:
    'The actor token is genuine and still good. It depends on the token, so only events name it.',
  ACTOR_ALLOWED:
    'The actor token was issued to the application, or to one of those in its `mayActFor`.',
  ACTOR_KEY_PROVEN: 'If the actor token is bound to a key, the request proves to have it.',
  MAY_ACT:
    'If the subject token says who may act (`may_act`), it is the actor: that of the actor token, or the application.',
  ACT_CHAIN:
    'No more applications and users act in a row than a token can name. It depends on the token, so only events name it.',
  RESOURCE: 'The resource is an absolute URI and is registered.',
  ORGANIZATION:
    'The user is a member of the organization, if one is named, and the subject token is not limited to another.',
  RESOURCE_ALLOWED:
    "The resource is among `exchangeResources`; if that is empty, any but Signet's own.",
  RESOURCE_REACHED: 'The subject token can be exchanged for this resource.',
  SCOPE_GRAMMAR: 'The scopes are names without spaces (RFC 6749 §3.3).',
};

const ExchangeRuleEnum = builder.enumType('ExchangeRule', {
  description:
    'The rules of a token exchange, in the order in which they are checked. `TOKEN_REFUSED` events name the one that was broken.',
  values: Object.fromEntries(
    ruleNames.map((name) => [name, { description: ruleDescriptions[name] }]),
  ) as Record<ExchangeRule, { description: string }>,
});

const SubjectTokenTypeEnum = builder.enumType('SubjectTokenType', {
  description: 'The types of token that are exchanged: `subject_token_type` (RFC 8693 §2.1).',
  values: {
    ACCESS_TOKEN: {
      description: '`urn:ietf:params:oauth:token-type:access_token`: the token of a user’s call.',
    },
    ASSERTED_ACCESS_TOKEN: {
      description:
        'The same, of a call that began with the assertion of a trusted issuer (`jwt-bearer`, RFC 7523 §2.1).',
    },
    SUBJECT_TOKEN: {
      description:
        '`urn:signet:params:oauth:token-type:subject_token`: a token of `createSubjectToken`.',
    },
    PERSONAL_ACCESS_TOKEN: {
      description:
        '`urn:signet:params:oauth:token-type:personal_access_token`: a token of `createPersonalAccessToken`.',
    },
  } as const satisfies Record<ExplainedTokenType, object>,
});

const ProvenKeyEnum = builder.enumType('ProvenKey', {
  description: 'The key that a token request proves to have (DPoP, RFC 9449).',
  values: {
    NONE: { description: 'None: it brings no proof.' },
    SUBJECT_KEY: { description: 'The one that the subject token is bound to.' },
    ACTOR_KEY: { description: 'The one that the actor token is bound to.' },
    OTHER_KEY: { description: 'Another one.' },
  } as const satisfies Record<ProvenKey, object>,
});

const ScopeOutcomeEnum = builder.enumType('ScopeOutcome', {
  description: 'The result for a requested scope.',
  values: {
    GRANTED: { description: 'The user holds it; it is granted.' },
    UNKNOWN: { description: 'The resource has no such scope; it is left out.' },
    NOT_HELD: { description: 'The user does not hold it; it is left out.' },
    HELD_ELSEWHERE: {
      description: 'The user holds it only in other organizations; it is left out.',
    },
    LIMITED: {
      description:
        'Not granted: a role gives it, but the `setterScopes` of the role’s assignment, of the user, of the application or of each of its secrets and keys do not allow it.',
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

const ExplainedScope = builder.objectRef<ExplainedScopeShape>('ExplainedScope').implement({
  description: 'One scope of a token exchange, with its result.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    outcome: t.expose('outcome', { type: ScopeOutcomeEnum, description: 'The result.' }),
    sources: t.field({
      type: [ScopeSource],
      description: `Roles by which the user holds it, those that count first: ${sourcesDescription}`,
      complexity: sourcesCost,
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
        description:
          'Every rule that can be told without the request, in the order in which the token endpoint checks them.',
        resolve: ({ rules }) => [...rules],
      }),
      scopes: t.field({
        type: [ExplainedScope],
        description: 'Every scope that is asked about.',
        resolve: ({ scopes }) => [...scopes],
      }),
    }),
  });

/** The claim `may_act` that the arguments describe; undefined if they name nobody. */
function mayActOf({
  mayActSub,
  mayActClientId,
}: {
  readonly mayActSub?: string | number | null | undefined;
  readonly mayActClientId?: string | number | null | undefined;
}): MayActClaim | undefined {
  if (mayActSub == null && mayActClientId == null) return undefined;
  return {
    ...(mayActSub == null ? {} : { sub: String(mayActSub) }),
    ...(mayActClientId == null ? {} : { client_id: String(mayActClientId) }),
  };
}

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
      applicationId: t.arg.id({
        required: true,
        description: 'The application that exchanges the token.',
      }),
      userId: t.arg.id({ required: true, description: 'The user on whose behalf it acts.' }),
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
        description:
          'The `aud` of the subject token, if it is an access token; absent: not known. The `resource` of a personal access token; absent: it has none, and is good for any API but Signet’s own.',
      }),
      subjectClientId: t.arg.id({
        description:
          'The application that the subject token was issued to (`client_id`), or through which a user created it if it is no access token. Absent: one of the operator’s own, or none.',
      }),
      subjectOrganizationId: t.arg.id({
        description:
          'The `organization_id` of the subject token, if it is an access token and has one. What is issued for it has the same one.',
      }),
      isSubjectBound: t.arg.boolean({
        description:
          'Whether the subject token is bound to a key. Only access tokens can be. Absent: it is not.',
      }),
      provenKey: t.arg({
        type: ProvenKeyEnum,
        description: 'The key that the request proves to have. Absent: none.',
      }),
      actorId: t.arg.id({
        description: 'The `sub` of the actor token. Absent: the application itself acts.',
      }),
      actorClientId: t.arg.id({
        description:
          'The application that the actor token was issued to. Absent: the one that exchanges.',
      }),
      isActorBound: t.arg.boolean({
        description: 'Whether the actor token is bound to a key. Absent: it is not.',
      }),
      mayActSub: t.arg.id({ description: 'The `sub` in the subject token’s `may_act`.' }),
      mayActClientId: t.arg.id({
        description: 'The `client_id` in the subject token’s `may_act`.',
      }),
    },
    // Each of its lists has at most that many entries.
    complexity: { field: 5, multiplier: maxExplainedScopes },
    resolve: (_root, args, context) => {
      const { applicationId, userId, resource, scopes, organizationId, subjectAudience } = args;
      const { subjectOrganizationId } = args;
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
        // Without a value it counts as absent, as at the token endpoint.
        organizationId: organizationId ? String(organizationId) : undefined,
        subjectTokenType: args.subjectTokenType ?? 'ACCESS_TOKEN',
        subjectAudience: subjectAudience ?? undefined,
        subjectClientId: args.subjectClientId == null ? undefined : String(args.subjectClientId),
        subjectOrganizationId:
          subjectOrganizationId == null ? undefined : String(subjectOrganizationId),
        isSubjectBound: args.isSubjectBound ?? undefined,
        provenKey: args.provenKey ?? undefined,
        actor:
          args.actorId == null
            ? undefined
            : {
                sub: String(args.actorId),
                clientId: String(args.actorClientId ?? applicationId),
                isBound: args.isActorBound ?? false,
              },
        mayAct: mayActOf(args),
      });
    },
  }),
);
