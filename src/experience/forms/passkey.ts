import { InvalidInputError, VerificationFailedError } from '../../errors.ts';
import { relyingPartyOf } from '../../factors/passkeys/relying-party.ts';
import { type Html, html } from '../../html/markup.ts';
import { passkeyPage } from '../pages/passkey.ts';
import type { PasskeyFrame } from '../pages/passkey-form.ts';
import { findUnknownPasskey, startPasskey, verifyPasskey } from '../passkeys/operations.ts';
import { passkeyScript } from '../passkeys/script.ts';
import type { Answer, FormPage, PageRequest } from './form-page.ts';
import { frameOf, type Visit } from './visit.ts';

const path = '/passkey';

/** What a form of a passkey needs. */
export function passkeyFrame({ base, context, csrfToken }: Visit, path: string): PasskeyFrame {
  const action = `${base}${path}`;
  return { action, csrfToken, script: passkeyScript(context, action) };
}

/** Whether the settings offer passkeys. */
export const isOffered = ({ settings }: Visit): boolean => settings.factors.includes('PASSKEY');

/** What a page needs to offer a sign-in by passkey; undefined where passkeys are off. */
export const passkeyFrameOf = (visit: Visit): PasskeyFrame | undefined =>
  isOffered(visit) ? passkeyFrame(visit, path) : undefined;

/** What the page's script got from the authenticator. */
export function responseOf({ form }: Pick<PageRequest, 'form'>): unknown {
  try {
    return JSON.parse(form.get('response') ?? '');
  } catch {
    return null;
  }
}

/** A person can do nothing about a malformed response, so the page says the same as of a wrong one. */
export async function orFailed<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof InvalidInputError) throw new VerificationFailedError();
    throw error;
  }
}

/** Gives the page's script its options, or verifies what it got. */
export async function submitPasskey(
  { context, access }: Visit,
  request: PageRequest,
): Promise<Answer> {
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

/**
 * Shows the page that asks for a passkey.
 *
 * @param others Other ways to go on.
 */
export async function showPasskey(
  visit: Visit,
  request: PageRequest,
  { at, isFactor, others }: { at: string; isFactor: boolean; others: Html },
): Promise<Answer> {
  const frame = passkeyFrame(visit, at);
  return {
    markup: passkeyPage({
      ...frameOf(visit, at, request.problem?.text),
      ...frame,
      isFactor,
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
  path,
  wrong: (t) => t.problem.PASSKEY,
  show: (visit, request) =>
    isOffered(visit)
      ? showPasskey(visit, request, { at: path, isFactor: false, others: otherWays(visit) })
      : { goTo: '?sign-in' },
  submit: submitPasskey,
};
