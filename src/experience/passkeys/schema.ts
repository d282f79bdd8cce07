import {
  checkRefusals,
  InvalidInputError,
  NotAllowedError,
  VerificationFailedError,
} from '../../errors.ts';
import { addStep, unusedField } from '../add-step.ts';
import {
  confirmPasskey,
  startPasskey,
  startPasskeyEnrollment,
  verifyPasskey,
} from './operations.ts';

addStep('startPasskeyEnrollment', {
  own: 'payload',
  description:
    'Begins to enrol a passkey of the person who signs in. `confirmPasskey` needs the answer of the authenticator, ' +
    'within five minutes.',
  input: (t) => ({
    clientMutationId: t.string({ description: unusedField }),
  }),
  // Stands before the payload, whose type is inferred from it.
  step: (context, access) => startPasskeyEnrollment(context, access),
  payload: (t) => ({
    options: t.field({
      type: 'JSONObject',
      description:
        'What `PublicKeyCredential.parseCreationOptionsFromJSON()` takes (WebAuthn Level 3 §5.1.8).',
      resolve: ({ options }) => ({ ...options }),
    }),
  }),
  errors: [NotAllowedError],
});

addStep('confirmPasskey', {
  own: 'viewer',
  description: 'Stores a new passkey of the person who signs in.',
  input: (t) => ({
    response: t.field({
      type: 'JSONObject',
      required: true,
      description: 'The new credential, as its `toJSON()` gives it (`RegistrationResponseJSON`).',
    }),
    name: t.string({ description: 'A name by which the person knows the passkey.' }),
  }),
  errors: [InvalidInputError, VerificationFailedError, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await confirmPasskey(context, access, input),
  }),
});

addStep('startPasskey', {
  own: 'payload',
  description:
    'Begins to sign in by a passkey; or, when the person is known, to show one as the second factor. ' +
    '`verifyPasskey` needs the answer of the authenticator, within five minutes.',
  input: (t) => ({
    clientMutationId: t.string({ description: unusedField }),
  }),
  step: (context, access) => startPasskey(context, access),
  payload: (t) => ({
    options: t.field({
      type: 'JSONObject',
      description:
        'What `PublicKeyCredential.parseRequestOptionsFromJSON()` takes (WebAuthn Level 3 §5.1.8). It names no ' +
        'passkeys while nobody is known.',
      resolve: ({ options }) => ({ ...options }),
    }),
  }),
  errors: [NotAllowedError],
});

addStep('verifyPasskey', {
  own: 'verifiedUntil',
  description: 'Signs a person in by a passkey, or takes it as the second factor.',
  input: (t) => ({
    response: t.field({
      type: 'JSONObject',
      required: true,
      description: 'The credential, as its `toJSON()` gives it (`AuthenticationResponseJSON`).',
    }),
  }),
  errors: [InvalidInputError, ...checkRefusals, NotAllowedError],
  step: async (context, access, input) => ({
    interaction: await verifyPasskey(context, access, input),
  }),
});
