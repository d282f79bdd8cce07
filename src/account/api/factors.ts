import { NotAllowedError, NotFoundError, VerificationRequiredError } from '../../errors.ts';
import { addOwnStep } from '../../experience/add-step.ts';
import type { ViewerContext } from '../../services.ts';
import {
  confirmPasskey,
  confirmTotp,
  createBackupCodes,
  deleteViewerFactor,
  enrollTotp,
  startPasskey,
  startPasskeyEnrollment,
  verifyBackupCode,
  verifyPasskey,
  verifyTotp,
} from '../operations/factors.ts';
import { readViewer } from '../operations/viewer.ts';
import { addChange } from './mutations.ts';
import { viewerContext } from './schema.ts';

// The mutations of a sign-in that people use on their account too. Their inputs are those of the Experience API.
const steps: Readonly<Record<string, (context: ViewerContext, input: never) => Promise<unknown>>> =
  {
    enrollTotp,
    confirmTotp,
    createBackupCodes: async (context) => ({ codes: await createBackupCodes(context) }),
    startPasskeyEnrollment: async (context) => ({ options: await startPasskeyEnrollment(context) }),
    confirmPasskey,
    verifyTotp: async (context, input) => ({ verifiedUntil: await verifyTotp(context, input) }),
    verifyBackupCode: async (context, input) => ({
      verifiedUntil: await verifyBackupCode(context, input),
    }),
    startPasskey: async (context) => ({ options: await startPasskey(context) }),
    verifyPasskey: async (context, input) => ({
      verifiedUntil: await verifyPasskey(context, input),
    }),
  };

for (const [name, step] of Object.entries(steps)) {
  addOwnStep(name, async (context, input) => {
    const own = viewerContext(context, 'account:write');
    // The name ties the step to its input; the compiler does not follow that through the record.
    const result = await step(own, input as never);
    return (result as object | undefined) ?? { viewer: await readViewer(own) };
  });
}

addChange('deleteViewerFactor', {
  description: 'Deletes one of the own second factors. Raises `User.Data.Updated`.',
  input: (t) => ({ id: t.id({ required: true, description: "The factor's id." }) }),
  errors: [NotFoundError, NotAllowedError, VerificationRequiredError],
  operation: async (context, input) => {
    await deleteViewerFactor(context, input);
    return readViewer(context);
  },
});
