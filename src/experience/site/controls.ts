import { type Html, html } from '../../markup.ts';
import { field, form } from '../../web/form.ts';
import type { PageScript } from '../../web/page.ts';
import { passkeyForm } from '../../web/passkeys/form.ts';
import { passkeyScript } from '../../web/passkeys/script.ts';
import type { PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { lastWay } from './last-way.ts';
import { logoOf } from './logos.ts';
import type { InteractionVisit } from './visit.ts';

/** The path of the page that signs in by passkey alone. */
export const passkeyPath = '/passkey';

/** Whether the settings offer passkeys. */
export const offersPasskeys = ({ settings }: InteractionVisit): boolean =>
  settings.factors.includes('PASSKEY');

/** The script of a page whose form, at this path, asks for a passkey. */
export const passkeyScriptAt = ({ context, base }: InteractionVisit, path: string): PageScript =>
  passkeyScript(context, `${base}${path}`);

/** The last control of a page: it cancels the interaction and returns to the application. */
export const cancel = (visit: InteractionVisit): Html =>
  form(formAt(visit, ''), cancelButton(visit), 'end');

/** The button that cancels. */
export const cancelButton = ({ texts: t }: Pick<InteractionVisit, 'texts'>): Html =>
  html`<button type="submit" name="cancel" value="yes" class="text give-up" formnovalidate>${t.cancel}</button>`;

/** A way to sign in that a page offers beside its form. */
interface Way {
  /** As {@link lastWay} names it; other ways have none. */
  readonly id?: string;
  readonly className?: string;
  readonly control: Html;
}

/** How many ways a page shows at once. */
const mostShown = 4;

const passkeyWay = (visit: InteractionVisit): Way => ({
  id: 'passkey',
  control: passkeyForm(formAt(visit, passkeyPath), visit.texts, {
    ceremony: 'get',
    button: visit.texts.signInByPasskey,
    isQuiet: true,
    cancelled: visit.texts.passkeyCancelled,
  }),
});

// The logo stands beside the button: its text is all that is in it.
const providerWays = ({ providers, base, csrfToken, texts: t }: InteractionVisit): Way[] =>
  providers.map(({ id, name, issuer }) => ({
    id,
    className: 'provider',
    control: html`<form method="post" action="${base}/federation"><input type="hidden" name="csrf" value="${csrfToken}"><input type="hidden" name="provider" value="${id}"><button type="submit" class="quiet">${t.continueWith(name)}</button></form>${logoOf(issuer)}`,
  }));

/** The item of a way. The one that was used last says so. */
const wayItem = (visit: InteractionVisit, { id, className, control }: Way): Html =>
  html`<li${className !== undefined && html` class="${className}"`}>${control}${
    id !== undefined && id === lastWay(visit) && html`<p class="hint">${visit.texts.usedLast}</p>`
  }</li>`;

/**
 * The ways to go on beside the form of a page, below the word "or": the one used last comes first. What is too many
 * opens by a click.
 *
 * @param offered.links Links to other pages, each with what {@link lastWay} calls it.
 */
export function otherWays(
  visit: InteractionVisit,
  offered: {
    readonly hasProviders: boolean;
    readonly hasPasskeys: boolean;
    readonly links: readonly (false | { id?: string; url: string; text: string })[];
  },
): Html {
  const { texts: t } = visit;
  const links = offered.links.flatMap((link): Way[] =>
    link
      ? [{ ...link, control: html`<a class="button quiet" href="${link.url}">${link.text}</a>` }]
      : [],
  );
  const ways = [
    ...(offered.hasProviders ? providerWays(visit) : []),
    ...(offered.hasPasskeys ? [passkeyWay(visit)] : []),
    ...links,
  ].sort((a, b) => Number(b.id === lastWay(visit)) - Number(a.id === lastWay(visit)));
  if (ways.length === 0) return html``;
  const shown = ways.length > mostShown ? mostShown - 1 : mostShown;
  const list = (some: readonly Way[]) =>
    html`<ul class="ways">${some.map((way) => wayItem(visit, way))}</ul>`;
  const rest = ways.slice(shown);
  return html`<p class="or">${t.or}</p>${list(ways.slice(0, shown))}${
    rest.length > 0 &&
    html`<details class="more"><summary>${t.otherWays}</summary>${list(rest)}</details>`
  }`;
}

/** The link to the first page, on a page that creates an account. */
export const signInInstead = ({ texts: t, base }: InteractionVisit): Html =>
  html`<p class="below">${t.haveAccount} <a href="${base}?sign-in">${t.signIn}</a></p>`;

/** The note about the operator's terms, on a page that creates an account; nothing if there are none. */
export const termsNote = ({ texts: t, look: { branding } }: InteractionVisit): Html =>
  branding.termsUrl === null && branding.privacyUrl === null
    ? html``
    : html`<p><small>${t.agree}</small></p>`;

/** The field for the user name of a new account. */
export const usernameField = (
  { texts: t }: InteractionVisit,
  { form, problem }: PageRequest,
  isRequired: boolean,
): Html =>
  field({
    name: 'username',
    label: isRequired ? t.username : `${t.username} (${t.optional})`,
    isOptional: !isRequired,
    autocomplete: 'username',
    maxLength: 128,
    value: form.get('username') ?? '',
    hint: t.usernameHint,
    faults: problem?.faults?.['username'],
    autofocus: problem === undefined,
  });
