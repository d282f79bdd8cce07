import {
  checkRefusals,
  InvalidInputError,
  LockedError,
  NotAllowedError,
  NotFoundError,
  VerificationFailedError,
  VerificationRequiredError,
} from '../../errors.ts';
import { noFields } from '../../graphql/mutations/mutation.ts';
import {
  confirmTotp,
  createBackupCodes,
  enrollTotp,
  verifyBackupCode,
  verifyTotp,
} from '../../proving/factors.ts';
import { deleteViewerFactor } from '../operations/factors.ts';
import { readViewer } from '../operations/viewer.ts';
import { addChange } from './mutations.ts';
import { addSharedMutation } from './shared-mutation.ts';

addSharedMutation('enrollTotp', {
  description:
    'Begins to add an authenticator app (RFC 6238). A second call during the sign-in shows the same secret.',
  input: noFields,
  // Stands before the payload, whose type is inferred from it.
  step: (holder) => enrollTotp(holder),
  payload: (t) => ({
    secret: t.string({
      description: 'The secret in Base32, to type into the app.',
      resolve: ({ result }) => result.secret,
    }),
    uri: t.string({
      description: 'The `otpauth:` URI, which an authenticator app opens.',
      resolve: ({ result }) => result.uri,
    }),
    qrCodeSvg: t.string({
      description: 'The URI as a QR code: an SVG document.',
      resolve: ({ result }) => result.qrCodeSvg,
    }),
  }),
  errors: [NotAllowedError],
  standsSeconds: null,
});

addSharedMutation('confirmTotp', {
  description:
    'Adds the authenticator app of `enrollTotp`, which counts as shown. Raises `User.Data.Updated` and `User.Credential.Updated`.',
  input: (t) => ({
    code: t.string({ required: true, description: 'A code that the app shows.' }),
    name: t.string({ description: 'The name that the person gives it.' }),
  }),
  step: (holder, input) => confirmTotp(holder, input),
  shows: 'viewer',
  errors: [InvalidInputError, VerificationFailedError, LockedError, NotAllowedError],
});

addSharedMutation('createBackupCodes', {
  description:
    'Makes ten backup codes, which replace the earlier ones. Raises `User.Credential.Updated`, and `User.Data.Updated` if there were none.',
  input: noFields,
  step: (holder) => createBackupCodes(holder),
  payload: (t) => ({
    codes: t.stringList({
      description: 'The codes, each for one use. They cannot be read again.',
      resolve: ({ result }) => result,
    }),
  }),
  errors: [NotAllowedError],
  standsSeconds: 0,
});

addSharedMutation('verifyTotp', {
  description: "Checks a code of the person's authenticator app. Each code counts once.",
  input: (t) => ({ code: t.string({ required: true, description: 'The code.' }) }),
  step: (holder, input) => verifyTotp(holder, input),
  shows: 'verifiedUntil',
  errors: [...checkRefusals, NotAllowedError],
});

addSharedMutation('verifyBackupCode', {
  description: "Uses up one of the person's backup codes.",
  input: (t) => ({ code: t.string({ required: true, description: 'The code.' }) }),
  step: (holder, input) => verifyBackupCode(holder, input),
  shows: 'verifiedUntil',
  errors: [...checkRefusals, NotAllowedError],
});

addChange('deleteViewerFactor', {
  description:
    "Deletes one of the caller's second factors. Raises `User.Data.Updated` and `User.Credential.Updated`.",
  input: (t) => ({ id: t.id({ required: true, description: "The factor's id." }) }),
  errors: [NotFoundError, NotAllowedError, VerificationRequiredError],
  operation: async (context, input) => {
    await deleteViewerFactor(context, input);
    return readViewer(context);
  },
});
