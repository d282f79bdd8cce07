import { enrollPasskeyPage } from '../../pages/passkey.ts';
import { confirmPasskey, startPasskeyEnrollment } from '../../passkeys/operations.ts';
import type { FormPage } from '../form-page.ts';
import {
  isOffered,
  orFailed,
  passkeyFrame,
  responseOf,
  showPasskey,
  submitPasskey,
} from '../passkey.ts';
import { afterEnrollment, enrollFrameOf, skip } from './enroll.ts';
import { otherFactors, usableKinds } from './verify.ts';

const factorPath = '/factor/passkey';
const enrollPath = '/enroll/passkey';

/** Asks for a passkey as the second factor. */
export const passkeyFactorForm: FormPage = {
  path: factorPath,
  step: 'VERIFY_FACTOR',
  wrong: (t) => t.problem.PASSKEY,
  async show(visit, request) {
    if (!(await usableKinds(visit)).includes('PASSKEY')) return { goTo: '/factor' };
    const others = await otherFactors(visit, 'PASSKEY');
    return showPasskey(visit, request, { at: factorPath, isFactor: true, others });
  },
  submit: submitPasskey,
};

/** Makes a passkey for the person who signs in. */
export const enrollPasskeyForm: FormPage = {
  path: enrollPath,
  step: 'ENROLL_FACTOR',
  wrong: (t) => t.problem.PASSKEY,
  async show(visit, request) {
    if (!isOffered(visit)) return { goTo: '/enroll' };
    const frame = passkeyFrame(visit, enrollPath);
    return {
      markup: enrollPasskeyPage({
        ...(await enrollFrameOf(visit, 'PASSKEY', request)),
        ...frame,
        name: request.form.get('name') ?? '',
      }),
      script: frame.script,
    };
  },
  async submit(visit, request) {
    const { context, access } = visit;
    const { form } = request;
    if (form.has('options'))
      return { json: (await startPasskeyEnrollment(context, access)).options };
    if (form.has('skip')) return skip(visit);
    const given = { response: responseOf(request), name: form.get('name') };
    await orFailed(confirmPasskey(context, access, given));
    return afterEnrollment(visit);
  },
};
