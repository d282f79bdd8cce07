import {
  checkRefusals,
  InvalidInputError,
  NotAllowedError,
  VerificationFailedError,
} from '../../errors.ts';
import { addStep, unusedField } from '../add-step.ts';
import {
  confirmTotp,
  createBackupCodes,
  enrollTotp,
  skipEnrollment,
  verifyBackupCode,
  verifyTotp,
} from './steps.ts';

addStep('enrollTotp', {
  own: 'payload',
  description:
    'Begins to add an authenticator app (RFC 6238). A second call during the sign-in shows the same secret.',
  input: (t) => ({ clientMutationId: t.string({ description: unusedField }) }),
  // Stands before the payload, whose type is inferred from it.
  step: (context, access) => enrollTotp(context, access),
  payload: (t) => ({
    secret: t.string({
      description: 'The secret in Base32, to type into the app.',
      resolve: ({ secret }) => secret,
    }),
    uri: t.string({
      description: 'The `otpauth:` URI, which an authenticator app opens.',
      resolve: ({ uri }) => uri,
    }),
    qrCodeSvg: t.string({
      description: 'The URI as a QR code: an SVG document.',
      resolve: ({ qrCodeSvg }) => qrCodeSvg,
    }),
  }),
  errors: [NotAllowedError],
});

addStep('confirmTotp', {
  own: 'viewer',
  description:
    'Adds the authenticator app of `enrollTotp`, which counts as shown. Raises `User.Data.Updated`.',
  input: (t) => ({
    code: t.string({ required: true, description: 'A code that the app shows.' }),
    name: t.string({ description: 'The name that the person gives it.' }),
  }),
  errors: [InvalidInputError, VerificationFailedError, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await confirmTotp(context, access, input),
  }),
});

addStep('createBackupCodes', {
  own: 'payload',
  description:
    'Makes ten backup codes, which replace the earlier ones. Raises `User.Data.Updated` if there were none.',
  input: (t) => ({ clientMutationId: t.string({ description: unusedField }) }),
  step: (context, access) => createBackupCodes(context, access),
  payload: (t) => ({
    codes: t.stringList({
      description: 'The codes, each for one use. They cannot be read again.',
      resolve: ({ codes }) => codes,
    }),
  }),
  errors: [NotAllowedError],
});

addStep('verifyTotp', {
  own: 'verifiedUntil',
  description: "Checks a code of the person's authenticator app. Each code counts once.",
  input: (t) => ({ code: t.string({ required: true, description: 'The code.' }) }),
  errors: [...checkRefusals, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await verifyTotp(context, access, input),
  }),
});

addStep('verifyBackupCode', {
  own: 'verifiedUntil',
  description: "Uses up one of the person's backup codes.",
  input: (t) => ({ code: t.string({ required: true, description: 'The code.' }) }),
  errors: [...checkRefusals, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await verifyBackupCode(context, access, input),
  }),
});

addStep('skipEnrollment', {
  description: 'Declines to add a second factor where none is required. It is not offered again.',
  input: (t) => ({ clientMutationId: t.string({ description: unusedField }) }),
  errors: [NotAllowedError],
  step: async (context, access) => ({ interaction: await skipEnrollment(context, access) }),
});
