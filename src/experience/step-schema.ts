import {
  ConflictError,
  checkRefusals,
  InteractionExpiredError,
  InvalidInputError,
  NotAllowedError,
  NotFoundError,
  PasswordRejectedError,
  RateLimitedError,
  VerificationFailedError,
} from '../errors.ts';
import { builder } from '../graphql/builder.ts';
import { addMutation, noFields, type PayloadFields } from '../graphql/mutations/mutation.ts';
import { deviceCookie } from '../protection/device.ts';
import { addressInput, typedCodeInput } from '../proving/code-fields.ts';
import type { SentCode } from '../proving/codes.ts';
import { sendCode, verifyCode } from './codes.ts';
import { completeProfile, type ProfileInput } from './federation/newcomer.ts';
import { startFederation } from './federation/start.ts';
import { skipEnrollment } from './holder.ts';
import { readInteraction } from './interaction.ts';
import { redeemOneTimeToken } from './one-time-link.ts';
import { signInWithPassword } from './password.ts';
import { resetPassword } from './recover.ts';
import { type RegisterInput, register } from './register.ts';
import {
  accessOf,
  addStep,
  InteractionEventEnum,
  InteractionType,
  type Shown,
  show,
  subGraphs,
  visitContext,
} from './schema.ts';
import { startInteraction } from './start.ts';
import { submitInteraction } from './submit.ts';

addMutation('startInteraction', {
  graph: 'experience',
  scope: null,
  standsSeconds: null,
  description:
    'Begins an interaction without a browser, for an application with `allowHeadlessSignIn`. All later requests ' +
    'need the header `Authorization: Interaction` with the token.',
  input: (t) => ({
    clientId: t.id({ required: true, description: "The application's id." }),
    redirectUri: t.string({
      required: true,
      description: "One of the application's redirect URIs, which gets the code.",
    }),
    scope: t.string({ description: 'Scopes separated by spaces; `openid` by default.' }),
    resource: t.string({ description: 'The resource indicator that the access token is for.' }),
    codeChallenge: t.string({
      required: true,
      description:
        'The S256 code challenge; redeeming the code needs its verifier (RFC 7636 §4.2).',
    }),
    state: t.string({ description: 'Returned with the code.' }),
    nonce: t.string({ description: 'Returned in the id token.' }),
    acrValues: t.string({
      description: 'Authentication context classes, separated by spaces, in order of preference.',
    }),
    organizationId: t.id({ description: 'An organization that the person must be a member of.' }),
  }),
  payload: (t: PayloadFields<{ interaction: Shown; interactionToken: string }>) => ({
    interaction: t.field({
      type: InteractionType,
      description: 'The interaction.',
      resolve: ({ interaction }) => interaction,
    }),
    interactionToken: t.exposeString('interactionToken', {
      description:
        'The token, which gives access to the interaction for an hour. It cannot be read again.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => {
    const visit = visitContext(context);
    const { access, token } = await startInteraction(visit, input);
    const interaction = await show(context, await readInteraction(visit, access));
    return { interaction, interactionToken: token };
  },
});

addStep('signInWithPassword', {
  description: 'Signs a person in by identifier and password.',
  input: (t) => ({
    identifier: t.string({
      required: true,
      description: 'A user name, an e-mail address or a telephone number.',
    }),
    password: t.string({ required: true, description: 'The password.' }),
  }),
  errors: [...checkRefusals, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await signInWithPassword(context, access, input),
  }),
});

const SentCodeType = builder.objectRef<SentCode>('SentCode').implement({
  subGraphs,
  description: 'A code that was sent.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id that `verifyCode` needs with the code.' }),
    recipient: t.exposeString('recipient', {
      description: 'The address it was sent to, partly hidden.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
  }),
});

addStep('sendCode', {
  description:
    'Sends a code of six digits. The answer is the same whether or not anyone has the address, and a message is ' +
    'sent in both cases.',
  input: (t) => ({
    purpose: t.field({
      type: InteractionEventEnum,
      required: true,
      description: 'The purpose of the code.',
    }),
    ...addressInput(t),
  }),
  // Stands before the payload, whose type is inferred from it.
  step: (context, access, input) => sendCode(context, access, input),
  payload: (t) => ({
    verification: t.field({
      type: SentCodeType,
      description: 'The code, returned even if nobody has the address.',
      resolve: ({ verification }) => verification,
    }),
  }),
  errors: [InvalidInputError, RateLimitedError, NotAllowedError],
  standsSeconds: 0,
});

addStep('verifyCode', {
  description:
    'Checks a code. A code for signing in signs the person in; after other codes, `register` or `resetPassword` comes next.',
  input: (t) => typedCodeInput(t, 'sendCode'),
  errors: [...checkRefusals, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await verifyCode(context, access, input),
  }),
});

addStep('redeemOneTimeToken', {
  description:
    'Uses up a token of `createOneTimeToken` and signs in the owner of its address. If nobody has the address, ' +
    '`register` comes next.',
  input: (t) => ({
    email: t.field({
      type: 'EmailAddress',
      required: true,
      description: 'The address that the token is for.',
    }),
    token: t.string({ required: true, description: 'The token.' }),
  }),
  errors: [...checkRefusals],
  step: async (context, access, input) => ({
    interaction: await redeemOneTimeToken(context, access, input),
  }),
});

addStep('register', {
  description: 'Creates an account and signs the person in.',
  input: (t) => ({
    username: t.string({
      description: 'The user name, if `signUpIdentifiers` asks for one.',
    }),
    verificationIds: t.idList({
      description:
        'The verifications of addresses for the account; by default all of this interaction.',
    }),
    password: t.string({
      description: 'The password. It can be absent if the person can sign in by code.',
    }),
    profile: t.field({
      type: 'JSONObject',
      description:
        "Standard claims about the person (OpenID Connect Core §5.1); `name` is the account's.",
    }),
  }),
  errors: [
    InvalidInputError,
    PasswordRejectedError,
    ConflictError,
    VerificationFailedError,
    NotAllowedError,
  ],
  step: async (context, access, input) => ({
    interaction: await register(context, access, input as RegisterInput),
  }),
});

addStep('resetPassword', {
  description:
    'Replaces a forgotten password, ends all other sessions of the person, and signs the person in.',
  input: (t) => ({
    password: t.string({ required: true, description: 'The new password.' }),
  }),
  errors: [PasswordRejectedError, VerificationFailedError, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await resetPassword(context, access, input),
  }),
});

addMutation('submitInteraction', {
  graph: 'experience',
  scope: null,
  description: 'Ends an interaction in which nothing is missing, and returns to the application.',
  input: noFields,
  payload: (t: PayloadFields<{ redirectTo: string }>) => ({
    redirectTo: t.exposeString('redirectTo', {
      description:
        "The application's redirect URI with `code`, `state` and `iss`; in a browser, the URL that leads there.",
    }),
  }),
  errors: [NotAllowedError, InteractionExpiredError],
  resolve: async (_input, context) => {
    const submitted = await submitInteraction(visitContext(context), accessOf(context));
    const { visitor, keepCookie } = context.visit ?? {};
    keepCookie?.(deviceCookie(context, visitor?.cookies, submitted.userId));
    return submitted;
  },
});

addStep('startFederation', {
  description:
    'Sends a person to an identity provider: the one with this id, or that of the domain of their e-mail address. ' +
    'The person comes back to this service, and the interaction continues.',
  input: (t) => ({
    identityProviderId: t.id({ description: 'The identity provider. Give this or `email`.' }),
    email: t.field({
      type: 'EmailAddress',
      description: "The person's e-mail address. Give this or `identityProviderId`.",
    }),
  }),
  step: (context, access, input) => startFederation(context, access, input),
  payload: (t) => ({
    url: t.string({
      description: "The URL to open in the person's browser.",
      resolve: ({ url }) => url,
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  standsSeconds: null,
});

addStep('completeProfile', {
  description:
    'Creates the account of a person who came from an identity provider, with what the provider did not tell, and signs them in.',
  input: (t) => ({
    username: t.string({
      description: 'The user name, if `signUpIdentifiers` asks for one.',
    }),
    profile: t.field({
      type: 'JSONObject',
      description:
        "Standard claims about the person (OpenID Connect Core §5.1); `name` is the account's.",
    }),
  }),
  errors: [InvalidInputError, ConflictError, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await completeProfile(context, access, input as ProfileInput),
  }),
});

addStep('skipEnrollment', {
  description: 'Declines to add a second factor where none is required. It is not offered again.',
  input: noFields,
  errors: [NotAllowedError],
  step: async (context, access) => ({ interaction: await skipEnrollment(context, access) }),
});
