import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import {
  ConflictError,
  checkRefusals,
  InvalidInputError,
  NotAllowedError,
  NotFoundError,
  PasswordRejectedError,
  RateLimitedError,
  VerificationFailedError,
  VerificationRequiredError,
} from '../../errors.ts';
import type { User as UserRow } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import {
  addMutation,
  type InputFields,
  noFields,
  type PayloadFields,
  type RefusalClass,
} from '../../graphql/mutations/mutation.ts';
import type { MutationName } from '../../graphql/mutations/raised.ts';
import { mutationPayloadName } from '../../graphql/names.ts';
import { Session } from '../../oidc/sessions/schema.ts';
import { addressInput, typedCodeInput } from '../../proving/code-fields.ts';
import type { SentCode } from '../../proving/codes.ts';
import type { ViewerContext } from '../../services.ts';
import { User } from '../../users/schema.ts';
import { sendViewerCode, verifyViewerCode } from '../operations/codes.ts';
import {
  updateViewerEmail,
  updateViewerPhone,
  updateViewerUsername,
} from '../operations/identifiers.ts';
import { updateViewerPassword, verifyViewerPassword } from '../operations/password.ts';
import { deleteViewer, updateViewer } from '../operations/profile.ts';
import { endOtherViewerSessions, endViewerSession } from '../operations/sessions.ts';
import { verifyViewerSignIn } from '../operations/sign-in-proof.ts';
import { subGraphs, viewerContext } from './schema.ts';

interface ViewerMutation<Fields extends InputFieldMap, Payload extends object> {
  readonly description: string;
  readonly input: (t: InputFields) => Fields;
  readonly payload: (t: PayloadFields<NoInfer<Payload>>) => FieldMap;
  readonly errors: readonly RefusalClass[];
  readonly operation: (
    context: ViewerContext,
    input: InputShapeFromFields<Fields>,
    info: GraphQLResolveInfo,
  ) => Promise<Payload>;
}

/** Adds a mutation on the caller's own account. */
export function addViewerMutation<Fields extends InputFieldMap, Payload extends object>(
  name: MutationName,
  { operation, description, ...options }: ViewerMutation<Fields, Payload>,
): void {
  addMutation<Fields, Payload>(name, {
    ...options,
    description: `${description} Requires \`account:write\`.`,
    graph: 'account',
    scope: null,
    resolve: (input, context, info) => operation(viewerContext(context), input, info),
  });
}

/** The field of a payload that shows the account. */
const viewerField = (
  t: PayloadFields<{ viewer: UserRow }>,
  description = 'The account after the change.',
) => ({
  viewer: t.field({
    type: User,
    description,
    // The compiler cannot see that the row is one of the type.
    resolve: ({ viewer }) => viewer as never,
  }),
});

/** Adds a mutation that changes the account and shows it. */
export function addChange<Fields extends InputFieldMap>(
  name: MutationName,
  {
    operation,
    ...options
  }: Omit<ViewerMutation<Fields, { viewer: UserRow }>, 'operation' | 'payload'> & {
    readonly operation: (
      context: ViewerContext,
      input: InputShapeFromFields<Fields>,
    ) => Promise<UserRow>;
  },
): void {
  addViewerMutation<Fields, { viewer: UserRow }>(name, {
    ...options,
    payload: viewerField,
    operation: async (context, input) => ({ viewer: await operation(context, input) }),
  });
}

/** Adds a mutation that proves who the person is. */
function addProof<Fields extends InputFieldMap>(
  name: MutationName,
  {
    operation,
    ...options
  }: Omit<ViewerMutation<Fields, { verifiedUntil: Date }>, 'operation' | 'payload'> & {
    readonly operation: (
      context: ViewerContext,
      input: InputShapeFromFields<Fields>,
    ) => Promise<Date>;
  },
): void {
  addViewerMutation<Fields, { verifiedUntil: Date }>(name, {
    ...options,
    payload: (t) => ({
      verifiedUntil: t.expose('verifiedUntil', {
        type: 'DateTime',
        description: 'Until when the proof counts.',
      }),
    }),
    operation: async (context, input) => ({ verifiedUntil: await operation(context, input) }),
  });
}

addChange('updateViewer', {
  description:
    "Changes the name, picture and profile of the caller's account. An absent field stays as it is; null clears it. The profile merges at the first level. Raises `User.Data.Updated`.",
  input: (t) => ({
    name: t.string({ description: 'At most 128 characters.' }),
    avatar: t.field({ type: 'URL', description: 'The http or https URL of a picture.' }),
    profile: t.field({
      type: 'JSONObject',
      description: 'Standard claims about the person (OpenID Connect Core §5.1) to merge in.',
    }),
  }),
  errors: [InvalidInputError],
  operation: (context, input) => updateViewer(context, input),
});

addChange('updateViewerUsername', {
  description: "Changes the caller's user name. Raises `User.Data.Updated`.",
  input: (t) => ({
    username: t.string({
      required: true,
      description: 'Letters, digits, ".", "_" and "-", at most 128. Unique, ignoring case.',
    }),
  }),
  errors: [InvalidInputError, ConflictError, VerificationRequiredError],
  operation: (context, input) => updateViewerUsername(context, input),
});

const ViewerVerification = builder.objectRef<SentCode>('ViewerVerification').implement({
  subGraphs,
  description: 'An address that the person verifies by a code.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: a TypeID with the prefix `verification`.' }),
    recipient: t.exposeString('recipient', { description: 'The address, partly hidden.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When the last code expires.',
    }),
  }),
});

addViewerMutation('sendViewerCode', {
  description:
    'Sends a code of six digits to an address of the account, or to a new one. The answer is the same whether or not somebody else has the address.',
  input: addressInput,
  operation: async (context, input) => ({ verification: await sendViewerCode(context, input) }),
  payload: (t) => ({
    verification: t.field({
      type: ViewerVerification,
      description: 'The code that was sent.',
      resolve: ({ verification }) => verification,
    }),
  }),
  errors: [InvalidInputError, RateLimitedError, NotAllowedError],
});

addViewerMutation('verifyViewerCode', {
  description:
    'Checks a code. A code to an address of the account proves who the person is, in this session and for ten minutes. A code to a new address verifies it for `updateViewerEmail` or `updateViewerPhone`.',
  input: (t) => typedCodeInput(t, 'sendViewerCode'),
  operation: async (context, input) => ({ ...(await verifyViewerCode(context, input)) }),
  payload: (t) => ({
    verification: t.field({
      type: ViewerVerification,
      description: 'The verified address.',
      resolve: ({ verification }) => verification,
    }),
    verifiedUntil: t.expose('verifiedUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when this proves who the person is; null for a new address.',
    }),
  }),
  errors: [...checkRefusals],
});

addProof('verifyViewerPassword', {
  description:
    'Proves who the person is by their password. The proof counts for ten minutes, in this session.',
  input: (t) => ({ password: t.string({ required: true, description: 'The password.' }) }),
  operation: (context, input) => verifyViewerPassword(context, input),
  errors: [...checkRefusals, NotAllowedError],
});

addProof('verifyViewerSignIn', {
  description:
    'Proves who the person is by a new sign-in at an identity provider, if they have no other way. The proof counts for ten minutes, in this session. Send the person through the authorization endpoint with `prompt=login`, and give the code here instead of to the token endpoint. It works once.',
  input: (t) => ({
    code: t.string({ required: true, description: 'The authorization code.' }),
    codeVerifier: t.string({ required: true, description: 'Its PKCE verifier.' }),
    redirectUri: t.string({ required: true, description: 'The redirect URI that it came to.' }),
  }),
  operation: (context, input) => verifyViewerSignIn(context, input),
  errors: [VerificationFailedError, NotAllowedError],
});

const newAddress = (t: InputFields) => ({
  verificationId: t.id({
    required: true,
    description: 'The id of a verification of the new address, at most ten minutes old.',
  }),
});

addChange('updateViewerEmail', {
  description:
    "Replaces the account's e-mail address with a verified one, and notifies the old address. Raises `User.Data.Updated`, and `OrganizationInvitation.Data.Updated` for each invitation of the old address, which is revoked.",
  input: newAddress,
  errors: [ConflictError, VerificationFailedError, VerificationRequiredError],
  operation: (context, input) => updateViewerEmail(context, input),
});

addChange('updateViewerPhone', {
  description:
    "Replaces the account's telephone number with a verified one, and notifies the person. Raises `User.Data.Updated`.",
  input: newAddress,
  errors: [ConflictError, VerificationFailedError, VerificationRequiredError],
  operation: (context, input) => updateViewerPhone(context, input),
});

addChange('updateViewerPassword', {
  description:
    "Sets the caller's password. Ends their other sessions, with all their tokens. Raises `User.Data.Updated`, without the password, `User.Credential.Updated`, and `User.Session.Ended` for each session that ends.",
  input: (t) => ({ password: t.string({ required: true, description: 'The new password.' }) }),
  errors: [PasswordRejectedError, NotAllowedError, VerificationRequiredError],
  operation: (context, input) => updateViewerPassword(context, input),
});

addViewerMutation('endViewerSession', {
  description:
    "Ends one of the caller's sessions, with all its tokens. Raises `User.Session.Ended`.",
  input: (t) => ({ id: t.id({ required: true, description: "The session's id." }) }),
  operation: async (context, input) => ({ session: await endViewerSession(context, input) }),
  payload: (t) => ({
    session: t.field({
      type: Session,
      description: 'The session in its last state.',
      resolve: ({ session }) => session,
    }),
  }),
  errors: [NotFoundError],
});

addViewerMutation('endOtherViewerSessions', {
  description:
    "Ends the caller's other sessions and all personal access tokens, with all tokens that were issued for them. The session of this access token stays. Raises `User.Session.Ended` for each that ends, and `User.Credential.Updated` for each personal access token.",
  input: noFields,
  operation: async (context) => ({ sessions: await endOtherViewerSessions(context) }),
  payload: (t) => ({
    sessions: t.field({
      type: [Session],
      description: 'The sessions that ended, in their last state.',
      resolve: ({ sessions }) => sessions,
    }),
  }),
  errors: [],
});

addViewerMutation('deleteViewer', {
  description:
    "Deletes the caller's account with sessions, roles and memberships. Raises `User.Deleted`, `Organization.Membership.Updated` for each organization that loses the member, `OrganizationInvitation.Data.Updated` for each invitation of their address, which is revoked, and `User.Credential.Updated` for each personal access token that a third-party application had created in the person's name.",
  input: noFields,
  operation: async (context, _input, info) => {
    // The selected relations are read before the deletion: afterwards they are gone.
    const path = [{ type: mutationPayloadName('deleteViewer'), name: 'viewer' }];
    const query = {
      ...queryFromInfo({ context, info, path }),
      where: { id: context.viewer.userId },
    };
    const before = await context.database.prisma.user.findUnique(query);
    return { viewer: { ...before, ...(await deleteViewer(context)) } };
  },
  payload: (t) => ({
    ...viewerField(t, 'The account as it last was.'),
    id: t.id({
      description: 'The id of the deleted account.',
      resolve: ({ viewer }) => viewer.id,
    }),
  }),
  errors: [VerificationRequiredError],
});
