import type { KoaContextWithOIDC } from 'oidc-provider';
import { html } from '../../markup.ts';
import type { Services } from '../../services.ts';
import type { PageExceptions } from '../../web/page.ts';
import { withShared } from '../../web/texts.ts';
import { localesOf, localesParameter, showPage } from './pages.ts';

const en = {
  goOn: 'Press the button if this page does not go on by itself.',
  continueTo: (application: string) => `Continue to ${application}`,
  otherPerson: 'Continue as another person',
  otherPersonLead: 'Somebody else was signed in here before. They are signed out first.',
};

const de: typeof en = {
  goOn: 'Drücken Sie den Knopf, wenn diese Seite nicht von selbst weitergeht.',
  continueTo: (application) => `Weiter zu ${application}`,
  otherPerson: 'Als andere Person weiter',
  otherPersonLead: 'Hier war vorher jemand anderes angemeldet und wird zuerst abgemeldet.',
};

const texts = withShared({ en, de });

interface SentForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly exceptions?: PageExceptions;
}

/** A page that sends its form by itself, or by its button where no scripts run. */
const sendForm = (
  services: Services,
  ctx: KoaContextWithOIDC,
  { action, fields, exceptions }: SentForm,
  wordsIn: (t: (typeof texts)['en']) => { readonly heading: string; readonly lead?: string },
): Promise<void> =>
  showPage(
    services,
    ctx,
    (language) => {
      const t = texts[language];
      const { heading, lead } = wordsIn(t);
      const hidden = Object.entries(fields).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${String(value)}">`,
      );
      return {
        heading,
        lead,
        body: html`<p>${t.goOn}</p><form method="post" action="${action}">${hidden}<button type="submit">${t.continue}</button></form>`,
        script: { code: 'document.forms[0].submit()' },
      };
    },
    exceptions,
  );

/**
 * Answers an authorization request by a form that the browser posts to the application (OAuth 2.0 Form Post Response
 * Mode §2). As with the other modes the application may ask in a frame of its own, with `prompt=none`, and learns where
 * the answer comes from by `Origin`.
 */
export function answerByForm(
  services: Services,
  ctx: KoaContextWithOIDC,
  redirectUri: string,
  answer: Readonly<Record<string, unknown>>,
): Promise<void> {
  // The library's handler keeps these; any other is Koa's own before a body is set.
  if (![200, 400, 500].includes(ctx.status)) ctx.status = 'error' in answer ? 400 : 200;
  const application = ctx.oidc.client?.clientName ?? new URL(redirectUri).host;
  const isWeb = /^https?:/.test(redirectUri);
  return sendForm(
    services,
    ctx,
    {
      action: redirectUri,
      fields: answer,
      exceptions: { tellsOrigin: true, ...(isWeb ? { framedBy: redirectUri } : {}) },
    },
    (t) => ({ heading: t.continueTo(application) }),
  );
}

/**
 * Replaces the form with which the library ends a session without a question: when another person signs in, and when
 * nobody is signed in. The library has no setting for that page.
 */
export async function replaceSignOutForm(
  services: Services,
  ctx: KoaContextWithOIDC,
): Promise<void> {
  if (!ctx.oidc) return;
  const { route, session } = ctx.oidc;
  const secret = session?.state?.['secret'];
  const isChange = route === 'resume' || route === 'device_resume';
  const isOfNobody = route === 'end_session' && !session?.accountId;
  if (!(isChange || isOfNobody) || typeof secret !== 'string') return;
  // The session may still hold the secret of an earlier question, which nobody answered.
  if (typeof ctx.body !== 'string' || !ctx.body.includes(secret)) return;
  await sendForm(
    services,
    ctx,
    {
      action: ctx.oidc.urlFor('end_session_confirm'),
      fields: { xsrf: secret, logout: 'yes', [localesParameter]: localesOf(ctx) },
    },
    (t) =>
      isChange ? { heading: t.otherPerson, lead: t.otherPersonLead } : { heading: t.signOut },
  );
}
