import { NotAllowedError, NotFoundError, VerificationRequiredError } from '../../errors.ts';
import {
  deleteViewerIdentity,
  revokeViewerGrant,
  startViewerFederation,
} from '../operations/links.ts';
import { readViewer } from '../operations/viewer.ts';
import { addChange, addViewerMutation } from './mutations.ts';

addViewerMutation('startViewerFederation', {
  description:
    'Sends the person to an identity provider, to link an identity to the account. They come back to this service, in a browser in which they are signed in.',
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
    'Removes one of the own identities, unless it is the last way to sign in. Raises `User.Data.Updated`.',
  input: (t) => ({ id: t.id({ required: true, description: "The identity's id." }) }),
  errors: [NotFoundError, NotAllowedError, VerificationRequiredError],
  operation: async (context, input) => {
    await deleteViewerIdentity(context, input);
    return readViewer(context);
  },
});

addChange('revokeViewerGrant', {
  description:
    "Takes back what the person has allowed an application. The application's tokens for the person end at once. Raises no event.",
  input: (t) => ({ id: t.id({ required: true, description: "The grant's id." }) }),
  errors: [NotFoundError],
  operation: async (context, input) => {
    await revokeViewerGrant(context, input);
    return readViewer(context);
  },
});
