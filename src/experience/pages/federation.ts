import { html } from '../../html/markup.ts';
import { goOn, type Look, page } from '../../html/page.ts';
import { cancel, doneNote, type FormFrame, field, form, problemNote, submit } from './form.ts';
import { type PageFrame, titled } from './sign-in.ts';
import { texts } from './texts.ts';

/** The content of the page that asks for what an identity provider did not tell. */
export interface ProfilePage extends PageFrame {
  readonly asksUsername: boolean;
  readonly needsUsername: boolean;
  readonly username: string;
  readonly usernameFaults: readonly string[];
  /** The address that the provider told, if the account gets it. */
  readonly address: string | null;
}

/** The page that asks for what an identity provider did not tell. */
export function profilePage(shown: ProfilePage): string {
  const { look, application, base, problem, address } = shown;
  const t = texts[look.language];
  const calm = problem === undefined;
  const terms = look.branding.termsUrl !== null || look.branding.privacyUrl !== null;
  const username =
    shown.asksUsername &&
    field({
      name: 'username',
      label: shown.needsUsername ? t.username : `${t.username} (${t.optional})`,
      isOptional: !shown.needsUsername,
      autocomplete: 'username',
      maxLength: 128,
      value: shown.username,
      hint: t.usernameHint,
      faults: shown.usernameFaults,
      autofocus: calm,
    });
  return page(
    {
      heading: t.completeProfile,
      title: titled(t, t.completeProfile, problem),
      lead: t.toContinueTo(application),
      body: html`${problemNote(problem)}${calm && address !== null && doneNote(t.verified(address))}${form(shown, html`${username}${submit(t.createAccount)}${cancel(t)}`)}${
        terms && html`<p><small>${t.agree}</small></p>`
      }<p class="below">${t.haveAccount} <a href="${base}?sign-in">${t.signIn}</a></p>`,
    },
    look,
  );
}

/** The content of the page that asks whether a person began a sign-in in another program. */
export interface ConfirmPage extends Pick<FormFrame, 'action'> {
  readonly look: Look;
  readonly application: string;
  readonly provider: string;
  /** The name or the address that the provider told. */
  readonly person: string | null;
  readonly confirmation: string;
}

/**
 * The page of a browser that came back from an identity provider for another program. Only the person can tell whether
 * they began it there.
 */
export function confirmPage({ look, action, confirmation, ...shown }: ConfirmPage): string {
  const t = texts[look.language];
  return page(
    {
      heading: t.signInTo(shown.application),
      lead: t.confirmLead(shown.provider, shown.person),
      body: html`<p>${t.confirmWarning(shown.application)}</p><form method="post" action="${action}"><input type="hidden" name="confirmation" value="${confirmation}">${submit(t.continue)}${cancel(t)}</form>`,
    },
    look,
  );
}

/** A page that says what a federation came to, for a browser with nothing more to do. */
export function returnedPage(
  look: Look,
  { heading, problem, text }: { heading: string; problem?: string | undefined; text: string },
  next?: { readonly url: string; readonly text: string },
): string {
  return page(
    {
      heading,
      body: html`${problemNote(problem)}<p>${text}</p>${next && goOn(next.url, next.text)}`,
    },
    look,
  );
}
