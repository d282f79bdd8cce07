import { managementIndicator } from '../../auth/scopes.ts';
import type { User } from '../../generated/prisma/client.ts';
import { type Html, html } from '../../markup.ts';
import { type Consent, namesOf } from '../../oidc/consent/asked.ts';
import { form, submit } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import { findConsent, findExchangers } from '../consent/gate.ts';
import { grantConsent } from '../consent/operations.ts';
import { leadOn } from '../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../site/visit.ts';

const path = '/consent';

/** Asks whether the application may have what it asks for. */
export const consentPage: InteractionPage = {
  path,
  step: 'CONSENT',
  wrong: ({ texts: t }) => t.wrong.ASKED_ANEW,
  async show(visit, { problem }) {
    const { texts: t, context, interaction } = visit;
    const { prisma } = context.database;
    const consent = await findConsent(prisma, interaction);
    // Another tab was faster.
    if (!consent) return leadOn(visit);
    const exchangers = await findExchangers(prisma, interaction);
    const user = await prisma.user.findUniqueOrThrow({ where: { id: interaction.userId ?? '' } });
    const { name } = interaction.application;
    return {
      heading: t.allowTitle(name),
      lead: t.allowLead(name),
      problem: problem?.faults ? t.wrong.ASKED_ANEW : problem?.text,
      body: html`${hostOf(visit)}${askedOf(visit, consent)}${
        exchangers.length > 0 && html`<p class="warn">${t.allowExchange(name, exchangers)}</p>`
      }
<p><small>${returnOf(visit)} ${t.allowLater}</small></p>
${form(
  formAt(visit, path),
  html`<input type="hidden" name="shown" value="${namesOf(consent).join(' ')}">
${submit(t.allow)}
<button type="submit" name="cancel" value="yes" class="quiet" formnovalidate>${t.deny}</button>`,
)}${personOf(visit, user)}`,
    };
  },
  async submit(visit, { form: sent }) {
    const scopes = (sent.get('shown') ?? '').split(' ').filter(Boolean);
    await grantConsent(visit.context, visit.access, { scopes });
    return leadOn(visit);
  },
};

/** Where an application comes from that nobody here has set up. Its name can be any. */
function hostOf({ texts: t, interaction: { application } }: InteractionVisit): Html | false {
  const { metadataUrl, origin } = application;
  if (origin === 'ADMINISTRATION') return false;
  const text = metadataUrl === null ? t.allowUnchecked : t.allowHost(new URL(metadataUrl).host);
  return html`<p class="warn">${text}</p>`;
}

function askedOf({ texts: t, interaction }: InteractionVisit, consent: Consent): Html {
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
  return html`${groups.map(
    ({ name, lines }) =>
      html`<section class="asked"><h2>${name}</h2><ul>${lines.map((line) => html`<li>${line}</li>`)}</ul></section>`,
  )}${isManaging && html`<p class="warn">${t.allowManaging(interaction.application.name)}</p>`}`;
}

/** Who allows it: a name and an identifier, and the way to use another account. */
function personOf(visit: InteractionVisit, user: User): Html {
  const { texts: t } = visit;
  const known = [user.name, user.primaryEmail, user.username, user.primaryPhone];
  const [name = '', identifier] = known.filter((one) => one !== null);
  return html`<p class="below">${t.signedInAs} <strong>${name}</strong>${identifier !== undefined && ` (${identifier})`}${!isOfDevice(visit) && html`<br><a href="${otherAccountUrl(visit)}">${t.otherAccount}</a>`}</p>`;
}

/** Whether the person signs in a device by its code, and goes nowhere. */
const isOfDevice = ({ parameters }: InteractionVisit): boolean =>
  parameters['redirect_uri'] === undefined;

/** Where the browser goes next: a host, or a scheme of a device. */
function returnOf(visit: InteractionVisit): string {
  const { texts: t, parameters } = visit;
  if (isOfDevice(visit)) return t.allowDevice;
  const { protocol, host } = new URL(String(parameters['redirect_uri']));
  return t.allowReturn(
    protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1),
  );
}

/** The authorization request again, with a new sign-in. */
function otherAccountUrl({ interaction: { restartUrl } }: InteractionVisit): string {
  const url = new URL(restartUrl ?? '');
  for (const name of ['login_hint', 'id_token_hint', 'screen_hint']) url.searchParams.delete(name);
  const prompts = (url.searchParams.get('prompt') ?? '').split(' ').filter(Boolean);
  url.searchParams.set('prompt', [...new Set(['login', ...prompts])].join(' '));
  return url.href;
}
