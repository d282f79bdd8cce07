import { html } from '../../../markup.ts';
import { confirmPasskey, startPasskeyEnrollment } from '../../../proving/passkeys.ts';
import { newPasskeyForm, withoutPasskeys } from '../../../web/passkeys/form.ts';
import { orFailed, responseOf } from '../../../web/passkeys/response.ts';
import { passkeyScript } from '../../../web/passkeys/script.ts';
import { formAt } from '../../../web/visit.ts';
import { sessionHolder } from '../../operations/holder.ts';
import { subpage } from '../../site/frame.ts';
import type { AccountPage } from '../../site/visit.ts';
import { afterAdding, factorsPath } from './paths.ts';

const path = `${factorsPath}/passkey`;

/** Adds a passkey. */
export const passkeyPage: AccountPage = {
  path,
  needsProof: true,
  wrong: ({ texts: t }) => t.wrongPasskey,
  show(visit, request) {
    const { texts: t, context } = visit;
    const frame = formAt(visit, path);
    return subpage(visit, request, {
      heading: t.ofFactor.PASSKEY.add,
      lead: t.createPasskeyLead,
      script: passkeyScript(context, frame.action),
      body: html`${withoutPasskeys(t)}${newPasskeyForm(frame, t, request.form)}`,
    });
  },
  async submit(visit, request) {
    const { context } = visit;
    const { form: sent } = request;
    if (sent.has('options')) return { json: await startPasskeyEnrollment(sessionHolder(context)) };
    const given = { response: responseOf(request), name: sent.get('name') };
    await orFailed(confirmPasskey(sessionHolder(context), given));
    return afterAdding(visit);
  },
};
