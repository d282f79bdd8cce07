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

/** What a page needs to offer a sign-in by passkey; undefined where passkeys are off. */
export function passkeyFrameOf(visit: Visit): PasskeyFrame | undefined {
  if (!visit.settings.factors.includes('PASSKEY')) return undefined;
  const action = `${visit.base}${path}`;
  return { action, csrfToken: visit.csrfToken, script: passkeyScript(visit.context, action) };
}

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

const otherWays = ({ base, texts: t }: Visit): Html =>
  html`<ul class="ways"><li><a class="button quiet" href="${base}?sign-in">${t.anotherWay}</a></li></ul>`;

/** Signs in by a passkey alone. */
export const passkeyForm: FormPage = {
  path,
  wrong: (t) => t.problem.PASSKEY,
  async show(visit, request) {
    const frame = passkeyFrameOf(visit);
    if (!frame) return { goTo: '?sign-in' };
    return {
      markup: passkeyPage({
        ...frameOf(visit, path, request.problem?.text),
        ...frame,
        isFactor: false,
        unknown: await unknownOf(visit, request),
        others: otherWays(visit),
      }),
      script: frame.script,
    };
  },
  submit: answerPasskey,
};

/** Gives the page's script its options, or verifies what it got. */
async function answerPasskey({ context, access }: Visit, request: PageRequest): Promise<Answer> {
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
