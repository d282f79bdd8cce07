import { type Html, html } from '../../html/markup.ts';
import { page } from '../../html/page.ts';
import { chooseOther, notNow } from './factors/enroll.ts';
import { cancel, field, form, problemNote } from './form.ts';
import { type PasskeyFrame, passkeyForm } from './passkey-form.ts';
import { type PageFrame, titled } from './sign-in.ts';
import { type Texts, texts } from './texts.ts';

/** The content of a page about one passkey. */
export interface PasskeyPage extends PageFrame, PasskeyFrame {
  /** Other ways to go on. */
  readonly others: Html;
  /** A passkey that nobody has any more, for the browser to forget (§5.1.10.2). */
  readonly unknown?: { readonly rpId: string; readonly credentialId: string } | undefined;
}

const unavailable = (t: Texts): Html => html`<p data-without-passkeys>${t.passkeysUnavailable}</p>`;

/** The page that asks for a passkey: as the only step of a sign-in, or as the second factor. */
export function passkeyPage(shown: PasskeyPage & { readonly isFactor: boolean }): string {
  const { look, application, problem, others, script, unknown, isFactor } = shown;
  const t = texts[look.language];
  const heading = isFactor ? t.usePasskey : t.signInByPasskey;
  const asked = passkeyForm(shown, t, {
    ceremony: 'get',
    button: isFactor ? t.usePasskey : t.signInByPasskey,
    cancelled: t.passkeyCancelled,
  });
  const forget =
    unknown !== undefined &&
    html`<div hidden data-passkey-signal="${JSON.stringify({ signalUnknownCredential: unknown })}"></div>`;
  return page(
    {
      heading,
      title: titled(t, isFactor ? heading : t.signInTo(application), problem),
      lead: isFactor ? t.usePasskeyLead : t.signInByPasskeyLead,
      script,
      body: html`${problemNote(problem)}${forget}${unavailable(t)}${asked}${form(shown, cancel(t))}${others}`,
    },
    look,
  );
}

/** The page where a person who signs in makes a passkey. */
export function enrollPasskeyPage(
  shown: PasskeyPage & {
    readonly name: string;
    readonly isOptional: boolean;
    /** The URL of the page that offers other kinds; undefined if there are none. */
    readonly choose: string | undefined;
  },
): string {
  const { look, problem, others, script, name, isOptional, choose } = shown;
  const t = texts[look.language];
  const fields = field({
    name: 'name',
    label: t.passkeyName,
    autocomplete: 'off',
    value: name,
    hint: t.passkeyNameHint,
    isOptional: true,
    maxLength: 128,
  });
  const made = passkeyForm(shown, t, {
    ceremony: 'create',
    button: t.createPasskey,
    fields,
    cancelled: t.passkeyNotMade,
  });
  return page(
    {
      heading: t.createPasskey,
      title: titled(t, t.createPasskey, problem),
      lead: t.createPasskeyLead,
      script,
      body: html`${problemNote(problem)}${unavailable(t)}${made}${form(shown, cancel(t))}${isOptional && notNow(shown, t)}${choose !== undefined && chooseOther(choose, t)}${others}`,
    },
    look,
  );
}
