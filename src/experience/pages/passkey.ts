import { relyingPartyOf } from '../../factors/passkeys/relying-party.ts';
import { type Html, html } from '../../markup.ts';
import { findUnknownPasskey, startPasskey, verifyPasskey } from '../../proving/passkeys.ts';
import { ways } from '../../web/entries.ts';
import { passkeyForm, withoutPasskeys } from '../../web/passkeys/form.ts';
import { orFailed, responseOf } from '../../web/passkeys/response.ts';
import type { Answer, PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { interactionHolder } from '../holder.ts';
import { cancel, offersPasskeys, passkeyPath, passkeyScriptAt } from '../site/controls.ts';
import { withWay } from '../site/last-way.ts';
import { leadOn } from '../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../site/visit.ts';

/** Signs in by a passkey alone. */
export const passkeyPage: InteractionPage = {
  path: passkeyPath,
  wrong: ({ texts: t }) => t.wrongPasskey,
  async show(visit, request) {
    const { texts: t, base, interaction } = visit;
    if (!offersPasskeys(visit)) return { goTo: '?sign-in' };
    return {
      heading: t.signInByPasskey,
      title: t.signInTo(interaction.application.name),
      lead: t.signInByPasskeyLead,
      script: passkeyScriptAt(visit, passkeyPath),
      body: html`${await askForPasskey(visit, request, passkeyPath, t.signInByPasskey)}${ways([
        { url: `${base}?sign-in`, text: t.anotherWay },
      ])}${cancel(visit)}`,
    };
  },
  submit: async (visit, request) => withWay(visit, await submitPasskey(visit, request), 'passkey'),
};

/**
 * The form that asks for a passkey.
 *
 * @param path The path of the form's page.
 */
export async function askForPasskey(
  visit: InteractionVisit,
  request: PageRequest,
  path: string,
  button: string,
): Promise<Html> {
  const { texts: t } = visit;
  const frame = formAt(visit, path);
  return html`${await signalUnknown(visit, request)}${withoutPasskeys(t)}${passkeyForm(frame, t, {
    ceremony: 'get',
    button,
    cancelled: t.passkeyCancelled,
  })}`;
}

/** Tells the browser to forget the passkey that was just refused because no user has it (WebAuthn Level 3 §5.1.10.2). */
async function signalUnknown(
  { context }: InteractionVisit,
  request: PageRequest,
): Promise<Html | undefined> {
  if (!request.problem) return undefined;
  const credentialId = await findUnknownPasskey(context, responseOf(request));
  if (credentialId === undefined) return undefined;
  const signalUnknownCredential = { rpId: relyingPartyOf(context).id, credentialId };
  return html`<div hidden data-passkey-signal="${JSON.stringify({ signalUnknownCredential })}"></div>`;
}

/** Gives the page's script its options, or verifies the passkey that it got. */
export async function submitPasskey(
  visit: InteractionVisit,
  request: PageRequest,
): Promise<Answer> {
  const holder = interactionHolder(visit);
  if (request.form.has('options')) return { json: await startPasskey(holder) };
  await orFailed(verifyPasskey(holder, { response: responseOf(request) }));
  return leadOn(visit);
}
