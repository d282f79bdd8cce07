import { InvalidInputError, VerificationFailedError } from '../../errors.ts';
import { relyingPartyOf } from '../../factors/passkeys/relying-party.ts';
import { type Html, html } from '../../html/markup.ts';
import { skipEnrollment } from '../factors/steps.ts';
import { enrollPasskeyPage, passkeyPage } from '../pages/passkey.ts';
import type { PasskeyFrame } from '../pages/passkey-form.ts';
import {
  confirmPasskey,
  findUnknownPasskey,
  startPasskey,
  startPasskeyEnrollment,
  verifyPasskey,
} from '../passkeys/operations.ts';
import { passkeyScript } from '../passkeys/script.ts';
import { nextStepsOf } from '../steps.ts';
import type { Answer, FormPage, PageRequest } from './form-page.ts';
import { frameOf, type Visit } from './visit.ts';

const paths = { signIn: '/passkey', factor: '/factor/passkey', enroll: '/enroll/passkey' } as const;

/** What a form of a passkey needs. */
function passkeyFrame({ base, context, csrfToken }: Visit, path: string): PasskeyFrame {
  const action = `${base}${path}`;
  return { action, csrfToken, script: passkeyScript(context, action) };
}

const isOffered = ({ settings }: Visit): boolean => settings.factors.includes('PASSKEY');

/** What a page needs to offer a sign-in by passkey; undefined where passkeys are off. */
export const passkeyFrameOf = (visit: Visit): PasskeyFrame | undefined =>
  isOffered(visit) ? passkeyFrame(visit, paths.signIn) : undefined;

/** What the page's script got from the authenticator. */
function responseOf({ form }: PageRequest): unknown {
  try {
    return JSON.parse(form.get('response') ?? '');
  } catch {
    return null;
  }
}

/** A person can do nothing about a malformed response, so the page says the same as of a wrong one. */
async function orFailed<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof InvalidInputError) throw new VerificationFailedError();
    throw error;
  }
}

/** Gives the page's script its options, or verifies what it got. */
async function submitPasskey({ context, access }: Visit, request: PageRequest): Promise<Answer> {
  if (request.form.has('options')) return { json: (await startPasskey(context, access)).options };
  await orFailed(verifyPasskey(context, access, { response: responseOf(request) }));
  return 'signed-in';
}

/** The passkey that was just refused because nobody has it. */
async function unknownOf({ context }: Visit, request: PageRequest) {
  if (!request.problem) return undefined;
  const credentialId = await findUnknownPasskey(context, responseOf(request));
  return credentialId === undefined
    ? undefined
    : { rpId: relyingPartyOf(context).id, credentialId };
}

async function showPasskey(
  visit: Visit,
  path: string,
  request: PageRequest,
  others: Html | undefined,
): Promise<Answer> {
  const frame = passkeyFrame(visit, path);
  return {
    markup: passkeyPage({
      ...frameOf(visit, path, request.problem?.text),
      ...frame,
      isFactor: path === paths.factor,
      unknown: await unknownOf(visit, request),
      others,
    }),
    script: frame.script,
  };
}

const otherWays = ({ base, texts: t }: Visit): Html =>
  html`<ul class="ways"><li><a class="button quiet" href="${base}?sign-in">${t.anotherWay}</a></li></ul>`;

/** Signs in by a passkey alone. */
export const passkeyForm: FormPage = {
  path: paths.signIn,
  wrong: (t) => t.problem.PASSKEY,
  show: (visit, request) =>
    isOffered(visit)
      ? showPasskey(visit, paths.signIn, request, otherWays(visit))
      : { goTo: '?sign-in' },
  submit: submitPasskey,
};

/** Asks for a passkey as the second factor. */
export const passkeyFactorForm: FormPage = {
  path: paths.factor,
  step: 'VERIFY_FACTOR',
  wrong: (t) => t.problem.PASSKEY,
  show: (visit, request) => showPasskey(visit, paths.factor, request, undefined),
  submit: submitPasskey,
};

/** Makes a passkey for the person who signs in. */
export const enrollPasskeyForm: FormPage = {
  path: paths.enroll,
  step: 'ENROLL_FACTOR',
  wrong: (t) => t.problem.PASSKEY,
  async show(visit, request) {
    const frame = passkeyFrame(visit, paths.enroll);
    const { context, interaction, settings } = visit;
    const steps = await nextStepsOf(context, interaction, settings);
    return {
      markup: enrollPasskeyPage({
        ...frameOf(visit, paths.enroll, request.problem?.text),
        ...frame,
        name: request.form.get('name') ?? '',
        isOptional: steps.some((step) => step !== 'ENROLL_FACTOR'),
        others: undefined,
      }),
      script: frame.script,
    };
  },
  async submit({ context, access }, request) {
    const { form } = request;
    if (form.has('options'))
      return { json: (await startPasskeyEnrollment(context, access)).options };
    if (form.has('skip')) {
      await skipEnrollment(context, access);
      return 'signed-in';
    }
    const name = form.get('name');
    await orFailed(confirmPasskey(context, access, { response: responseOf(request), name }));
    return 'signed-in';
  },
};
