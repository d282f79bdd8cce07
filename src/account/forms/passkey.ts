import { orFailed, responseOf } from '../../experience/forms/passkey.ts';
import { field } from '../../experience/pages/form.ts';
import { passkeyForm } from '../../experience/pages/passkey-form.ts';
import { passkeyScript } from '../../experience/passkeys/script.ts';
import { listPasskeys } from '../../factors/passkeys/enroll.ts';
import { relyingPartyOf, userHandleOf } from '../../factors/passkeys/relying-party.ts';
import { encoded } from '../../factors/passkeys/responses.ts';
import { type Html, html } from '../../html/markup.ts';
import type { PageScript } from '../../html/page.ts';
import { confirmPasskey, startPasskeyEnrollment } from '../operations/factors.ts';
import { accountPage } from '../pages/frame.ts';
import type { AccountPage, AccountVisit } from './account-page.ts';

const path = '/factors/passkey';

/**
 * The script of a page about passkeys.
 *
 * @param at The path of the page whose form it asks for options.
 */
export const scriptOf = ({ context, base }: AccountVisit, at = path): PageScript =>
  passkeyScript(context, `${base}${at}`);

/** Tells the browser which passkeys of the person are left (WebAuthn Level 3 §5.1.10.3). */
export async function passkeySignal({ context, user }: AccountVisit): Promise<Html> {
  const passkeys = await listPasskeys(context.database.prisma, user.id);
  const signalAllAcceptedCredentials = {
    rpId: relyingPartyOf(context).id,
    userId: encoded(userHandleOf(user.id)),
    allAcceptedCredentialIds: passkeys.map(({ credentialId }) => encoded(credentialId)),
  };
  return html`<div hidden data-passkey-signal="${JSON.stringify({ signalAllAcceptedCredentials })}"></div>`;
}

/** Adds a passkey. */
export const passkeyPage: AccountPage = {
  path,
  needsProof: true,
  wrong: ({ common }) => common.problem.PASSKEY,
  async show(visit, request) {
    const { texts: t, common, base, csrfToken } = visit;
    const script = scriptOf(visit);
    const made = passkeyForm({ action: `${base}${path}`, csrfToken }, common, {
      ceremony: 'create',
      button: common.createPasskey,
      fields: field({
        name: 'name',
        label: common.passkeyName,
        autocomplete: 'off',
        value: request.form.get('name') ?? '',
        hint: common.passkeyNameHint,
        isOptional: true,
        maxLength: 128,
      }),
      cancelled: common.passkeyNotMade,
    });
    return {
      markup: accountPage(visit, request, {
        heading: t.addFactor.PASSKEY,
        lead: common.createPasskeyLead,
        script,
        body: html`<p data-without-passkeys>${common.passkeysUnavailable}</p>${made}`,
      }),
      script,
    };
  },
  async submit({ context }, request) {
    const { form } = request;
    if (form.has('options')) return { json: await startPasskeyEnrollment(context) };
    await orFailed(
      confirmPasskey(context, { response: responseOf(request), name: form.get('name') }),
    );
    return { goTo: '/factors?done=factors' };
  },
};
