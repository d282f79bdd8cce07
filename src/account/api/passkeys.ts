import {
  checkRefusals,
  InvalidInputError,
  NotAllowedError,
  VerificationFailedError,
} from '../../errors.ts';
import { noFields } from '../../graphql/mutations/mutation.ts';
import {
  confirmPasskey,
  startPasskey,
  startPasskeyEnrollment,
  verifyPasskey,
} from '../../proving/passkeys.ts';
import { addSharedMutation } from './shared-mutation.ts';

addSharedMutation('startPasskeyEnrollment', {
  description:
    'Begins to enrol a passkey of the person who signs in. `confirmPasskey` needs the answer of the authenticator, ' +
    'within five minutes.',
  input: noFields,
  // Stands before the payload, whose type is inferred from it.
  step: (holder) => startPasskeyEnrollment(holder),
  payload: (t) => ({
    options: t.field({
      type: 'JSONObject',
      description:
        'What `PublicKeyCredential.parseCreationOptionsFromJSON()` takes (WebAuthn Level 3 §5.1.8).',
      resolve: ({ result }) => ({ ...result }),
    }),
  }),
  errors: [NotAllowedError],
  standsSeconds: null,
});

addSharedMutation('confirmPasskey', {
  description:
    'Stores a new passkey of the person who signs in. Raises `User.Data.Updated` and `User.Credential.Updated`.',
  input: (t) => ({
    response: t.field({
      type: 'JSONObject',
      required: true,
      description: 'The new credential, as its `toJSON()` gives it (`RegistrationResponseJSON`).',
    }),
    name: t.string({ description: 'A name by which the person knows the passkey.' }),
  }),
  step: (holder, input) => confirmPasskey(holder, input),
  shows: 'viewer',
  errors: [InvalidInputError, VerificationFailedError, NotAllowedError],
});

addSharedMutation('startPasskey', {
  description:
    'Begins to sign in by a passkey; or, when the person is known, to show one as the second factor. ' +
    '`verifyPasskey` needs the answer of the authenticator, within five minutes.',
  input: noFields,
  step: (holder) => startPasskey(holder),
  payload: (t) => ({
    options: t.field({
      type: 'JSONObject',
      description:
        'What `PublicKeyCredential.parseRequestOptionsFromJSON()` takes (WebAuthn Level 3 §5.1.8). It names no ' +
        'passkeys while nobody is known.',
      resolve: ({ result }) => ({ ...result }),
    }),
  }),
  errors: [NotAllowedError],
  standsSeconds: null,
});

addSharedMutation('verifyPasskey', {
  description: 'Signs a person in by a passkey, or takes it as the second factor.',
  input: (t) => ({
    response: t.field({
      type: 'JSONObject',
      required: true,
      description: 'The credential, as its `toJSON()` gives it (`AuthenticationResponseJSON`).',
    }),
  }),
  step: (holder, input) => verifyPasskey(holder, input),
  shows: 'verifiedUntil',
  errors: [InvalidInputError, ...checkRefusals, NotAllowedError],
});
