import { managementIndicator } from '../../auth/scopes.ts';
import { html } from '../../html/markup.ts';
import { page } from '../../html/page.ts';
import type { Consent } from '../../oidc/consent/asked.ts';
import { form, problemNote, submit } from './form.ts';
import { type PageFrame, titled } from './sign-in.ts';
import { texts } from './texts.ts';

/** The content of the page that asks for consent. */
export interface ConsentPage extends PageFrame {
  readonly consent: Consent;
  /** The names of the scopes shown, separated by spaces; the form sends them back. */
  readonly shown: string;
  /** The name of the person, and an identifier. */
  readonly person: readonly string[];
  /** Where the browser goes next: a host, or a scheme of a device. */
  readonly destination: string;
  /** The URL that begins again with another account. */
  readonly otherAccountUrl: string;
}

/** The page that asks whether an application may have what it asks for. */
export function consentPage(shown: ConsentPage): string {
  const { look, application, problem, consent, person, destination } = shown;
  const t = texts[look.language];
  const groups = [
    ...(consent.scopes.length > 0
      ? [{ name: t.aboutYou, lines: consent.scopes.map((name) => t.scope[name] ?? name) }]
      : []),
    ...consent.resources.map(({ name, scopes }) => ({
      name,
      lines: scopes.map((scope) => scope.description || scope.name),
    })),
  ];
  const isManaging = consent.resources.some(({ indicator }) => indicator === managementIndicator);
  const content = html`<input type="hidden" name="shown" value="${shown.shown}">
${submit(t.allow)}
<button type="submit" name="cancel" value="yes" class="quiet" formnovalidate>${t.deny}</button>`;
  const [who = '', identifier] = person;
  return page(
    {
      heading: t.allowTitle(application),
      title: titled(t, t.allowTitle(application), problem),
      lead: t.allowLead(application),
      body: html`${problemNote(problem)}${groups.map(
        ({ name, lines }) =>
          html`<section class="asked"><h2>${name}</h2><ul>${lines.map((line) => html`<li>${line}</li>`)}</ul></section>`,
      )}${isManaging && html`<p class="warn">${t.allowManaging(application)}</p>`}
<p><small>${t.allowReturn(destination)} ${t.allowLater}</small></p>
${form(shown, content)}<p class="below">${t.signedInAs} <strong>${who}</strong>${identifier !== undefined && ` (${identifier})`}<br><a href="${shown.otherAccountUrl}">${t.otherAccount}</a></p>`,
    },
    look,
  );
}
