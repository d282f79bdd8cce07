import { NotAllowedError, NotFoundError, VerificationRequiredError } from '../../errors.ts';
import { acceptOwnInvitation } from '../../organization-invitations/operations.ts';
import {
  deleteViewerIdentity,
  revokeViewerGrant,
  startViewerFederation,
} from '../operations/links.ts';
import { readViewer } from '../operations/viewer.ts';
import { addChange, addViewerMutation } from './mutations.ts';

addViewerMutation('startViewerFederation', {
  description:
    'Sends the person to an identity provider, to link an identity to the account. They come back to this service, and must be signed in to it in that browser.',
  input: (t) => ({
    identityProviderId: t.id({ required: true, description: 'The identity provider.' }),
  }),
  operation: async (context, input) => ({ ...(await startViewerFederation(context, input)) }),
  payload: (t) => ({
    url: t.exposeString('url', { description: "The URL to open in the person's browser." }),
  }),
  errors: [NotFoundError, NotAllowedError, VerificationRequiredError],
});

addChange('deleteViewerIdentity', {
  description:
    "Removes one of the caller's identities, unless it is the last way to sign in. Raises `User.Data.Updated` and `User.Credential.Updated`.",
  input: (t) => ({ id: t.id({ required: true, description: "The identity's id." }) }),
  errors: [NotFoundError, NotAllowedError, VerificationRequiredError],
  operation: async (context, input) => {
    await deleteViewerIdentity(context, input);
    return readViewer(context);
  },
});

addChange('revokeViewerGrant', {
  description:
    "Revokes what the person has allowed an application. The application's tokens for the person end at once, as do personal access tokens that it created in the person's name. Raises `User.Grant.Revoked`, and `User.Credential.Updated` for each of these.",
  input: (t) => ({ id: t.id({ required: true, description: "The grant's id." }) }),
  errors: [NotFoundError],
  operation: async (context, input) => {
    await revokeViewerGrant(context, input);
    return readViewer(context);
  },
});

addChange('acceptViewerInvitation', {
  description:
    "Accepts an invitation of the account's verified e-mail address: the person becomes a member of its organization, with its roles. Raises `OrganizationInvitation.Data.Updated`, and `Organization.Membership.Updated` if the person was not a member yet.",
  input: (t) => ({ id: t.id({ required: true, description: "The invitation's id." }) }),
  errors: [NotFoundError, NotAllowedError],
  operation: async (context, { id }) => {
    await acceptOwnInvitation(context, { id, userId: context.viewer.userId });
    return readViewer(context);
  },
});
