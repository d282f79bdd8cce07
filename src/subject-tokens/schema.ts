import type { MayActClaim } from '../auth/access-token.ts';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import { ActorInterface } from '../events/schema.ts';
import type {
  PersonalAccessToken as PersonalAccessTokenRow,
  SubjectToken as SubjectTokenRow,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { connectionOf } from '../graphql/lists/page.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import { addMutation, type PayloadFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import type { Actor } from '../services.ts';
import {
  createPersonalAccessToken,
  deletePersonalAccessToken,
  maxPersonalAccessTokens,
  scopesOf,
} from './personal-access-token.ts';
import { createSubjectToken } from './subject-token.ts';

const mayActDescriptions = {
  sub: 'A user or an application: the subject of the actor’s token, or the application that exchanges.',
  clientId: 'The application that the actor’s token was issued to.',
};

const MayAct = builder.objectRef<MayActClaim>('MayAct').implement({
  description: 'Who alone may be the actor of what is issued for a token (RFC 8693 §4.4).',
  fields: (t) => ({
    sub: t.id({
      nullable: true,
      description: mayActDescriptions.sub,
      resolve: ({ sub }) => sub ?? null,
    }),
    clientId: t.id({
      nullable: true,
      description: mayActDescriptions.clientId,
      resolve: ({ client_id: clientId }) => clientId ?? null,
    }),
  }),
});

const MayActInput = builder.inputType('MayActInput', {
  description: 'Who alone may be the actor: at least one of the two.',
  fields: (t) => ({
    sub: t.id({ description: mayActDescriptions.sub }),
    clientId: t.id({ description: mayActDescriptions.clientId }),
  }),
});

/** A token that lets an application act for a user once, on behalf of an agent. */
const SubjectToken = builder.prismaNode('SubjectToken', {
  nullable: true,
  id: { field: 'id', description: "The token's id: a TypeID with the prefix `subtoken`." },
  description:
    'A token that lets an application act for a user once, on behalf of an agent. The token itself was shown once and ' +
    'is not stored. The record is kept after the token ends, as long as events are.',
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    userId: t.exposeID('userId', { description: 'The user whom the application acts for.' }),
    applicationId: t.exposeID('applicationId', {
      nullable: true,
      description:
        'The one application that may exchange it; null: any that has `allowImpersonation`.',
    }),
    actor: t.field({
      type: ActorInterface,
      description: 'The agent, who created it.',
      // Written from an actor by `createSubjectToken`.
      resolve: ({ actor }) => actor as unknown as Actor,
    }),
    mayAct: t.field({
      type: MayAct,
      nullable: true,
      description:
        'Who alone may be the actor of what is issued for it; null: whoever exchanges it.',
      // Written as the claim by `createSubjectToken`.
      resolve: ({ mayAct }) => mayAct as MayActClaim | null,
    }),
    reason: t.exposeString('reason', { description: 'Why, in the words of the agent.' }),
    context: t.expose('context', {
      type: 'JSONObject',
      description: 'Data that the agent stored with it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
    usedAt: t.expose('usedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was exchanged; null: not yet.',
    }),
    usedById: t.exposeID('usedById', {
      nullable: true,
      description: 'The application that exchanged it.',
    }),
  }),
});

/** A long-lived token of a user, to be exchanged. */
const PersonalAccessToken = builder.prismaNode('PersonalAccessToken', {
  nullable: true,
  id: { field: 'id', description: "The token's id: a TypeID with the prefix `pat`." },
  description:
    'A long-lived token of a user, which an application exchanges for access tokens. The token itself was shown once ' +
    'and is not stored.',
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name. Unique among those of the user.' }),
    scopes: t.stringList({
      nullable: true,
      description: 'The scopes that an exchange may grant; null: all that the user holds.',
      select: { scope: true },
      resolve: scopesOf,
    }),
    resource: t.exposeString('resource', {
      nullable: true,
      description: "The indicator of the one API that it is for; null: any but Signet's own.",
    }),
    user: t.relation('user', { description: 'The user whose token it is.' }),
    clientId: t.exposeID('clientId', {
      nullable: true,
      description:
        'The application through which a user created it; null: an application did for itself, or it is gone.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last exchanged, to the minute; null: never.',
    }),
  }),
});

const SubjectTokenConnection = connectionOf('SubjectToken', SubjectToken);
const PersonalAccessTokenConnection = connectionOf('PersonalAccessToken', PersonalAccessToken);

builder.prismaObjectField('User', 'subjectTokens', (t) =>
  t.connection(
    {
      type: SubjectToken,
      description:
        'The tokens that let applications act for the user, oldest first: who did it, and why.',
      ...relatedList<SubjectTokenRow>({ relation: 'subjectTokens', key: 'id' }),
    },
    SubjectTokenConnection,
  ),
);

builder.prismaObjectField('User', 'personalAccessTokens', (t) =>
  t.connection(
    {
      type: PersonalAccessToken,
      description: "The user's personal access tokens, oldest first.",
      ...relatedList<PersonalAccessTokenRow>({ relation: 'personalAccessTokens', key: 'id' }),
    },
    PersonalAccessTokenConnection,
  ),
);

addMutation('createSubjectToken', {
  description:
    'Creates a token that lets an application act for a user once: impersonation, for support. It is for one exchange ' +
    'within ten minutes (RFC 8693), and what is issued ends within them. The `act` claim of what is issued names the ' +
    'caller as the agent. Raises `User.Impersonation.Started`; `User.subjectTokens` keeps who did it, and why.',
  scope: 'users:write',
  input: (t) => ({
    userId: t.id({ required: true, description: "The user's id." }),
    reason: t.string({ required: true, description: 'Why. At most 1024 characters.' }),
    context: t.field({
      type: 'JSONObject',
      description: 'Data to store with it, at most 64 KiB.',
    }),
    applicationId: t.id({
      description:
        'The one application that may exchange it. Absent: any that has `allowImpersonation`.',
    }),
    mayAct: t.field({
      type: MayActInput,
      description:
        'Who alone may be the actor of what is issued for it, and of what is exchanged from that: the claim `may_act` (RFC 8693 §4.4). Absent: whoever exchanges it.',
    }),
  }),
  payload: (t: PayloadFields<{ subjectToken: SubjectTokenRow; token: string }>) => ({
    subjectToken: t.field({
      type: SubjectToken,
      description: 'The record of the token, without its value.',
      resolve: ({ subjectToken }) => subjectToken,
    }),
    token: t.exposeString('token', {
      description:
        'The value of the token, shown only once. Its `subject_token_type` is `urn:signet:params:oauth:token-type:subject_token`.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: (input, context) => createSubjectToken(context, input),
});

const mutations = recordMutations('personalAccessToken', PersonalAccessToken, {
  scope: 'users:write',
  noun: 'token',
  description: "The token's record.",
});

addMutation('createPersonalAccessToken', {
  description:
    'Creates a long-lived token of a user, which an application exchanges for access tokens (RFC 8693). It ends with ' +
    `the suspension of the user, a new password, and \`signOutUser\`. One that a user creates through a third-party application is exchanged as a token of that, and ends with the consent too. A user can have ${maxPersonalAccessTokens} that have not expired. Raises \`User.Credential.Updated\`.`,
  scope: 'users:write',
  input: (t) => ({
    userId: t.id({ required: true, description: "The user's id." }),
    name: t.string({
      required: true,
      description: 'At most 128 characters. Unique among those of the user.',
    }),
    scopes: t.stringList({
      description:
        "The scopes that an exchange may grant, at most 100. Absent: all that the user holds. Required for one of Signet's own APIs.",
    }),
    resource: t.string({
      description: "The indicator of the one API that it is for. Absent: any but Signet's own.",
    }),
    expiresAt: t.field({ type: 'DateTime', required: true, description: 'When it expires.' }),
  }),
  payload: (t: PayloadFields<{ personalAccessToken: PersonalAccessTokenRow; token: string }>) => ({
    ...mutations.payload(t),
    token: t.exposeString('token', {
      description:
        'The value of the token, shown only once. Its `subject_token_type` is `urn:signet:params:oauth:token-type:personal_access_token`.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: (input, context) => createPersonalAccessToken(context, input),
});

mutations.addDeletion('deletePersonalAccessToken', {
  description:
    'Deletes a personal access token. The access tokens that were issued for it end too. Raises `User.Credential.Updated`.',
  model: ({ personalAccessToken }) => personalAccessToken,
  operation: deletePersonalAccessToken,
});
