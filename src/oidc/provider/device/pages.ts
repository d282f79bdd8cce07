import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { type Html, html } from '../../../markup.ts';
import { noteFailure } from '../../../protection/addresses.ts';
import type { Services } from '../../../services.ts';
import { field, submit } from '../../../web/form.ts';
import { type Content, goOn } from '../../../web/page.ts';
import { withShared } from '../../../web/texts.ts';
import { failedPage, localesOf, localesParameter, showPage } from '../pages.ts';
import { requestOf } from '../requests.ts';
import { DeviceCodeUsed } from './codes.ts';

const en = {
  connect: 'Connect a device',
  connectLead: 'Enter the code that your device shows.',
  codeHint: 'Eight letters, such as BCDF-GHJK.',
  wrongCode:
    'This code is wrong, has expired or was used already. Look at your device: it may show a new one.',
  over: 'This code cannot be used any more. Let your device show a new one.',
  otherCode: 'Enter a code',
  confirm: (application: string) => `Connect ${application}?`,
  confirmLead: (application: string) =>
    `A device asks to sign in to ${application} as you. It shows this code:`,
  confirmWarning: (application: string) =>
    `Go on only if you have just begun this yourself, on a device in front of you. Did somebody send you this code or this page? Then do not go on: they could use ${application} as you.`,
  decline: 'Do not connect',
  declined: 'Not connected',
  declinedLead: 'The device was not signed in. You can close this page.',
  done: 'Your device is connected',
  doneLead: (application: string) =>
    `Go back to your device: it is signed in to ${application} in a moment. You can close this page.`,
};

const de: typeof en = {
  connect: 'Gerät verbinden',
  connectLead: 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
  codeHint: 'Acht Buchstaben, etwa BCDF-GHJK.',
  wrongCode:
    'Dieser Code stimmt nicht, ist abgelaufen oder wurde schon verwendet. Sehen Sie auf Ihr Gerät: Vielleicht zeigt es einen neuen.',
  over: 'Dieser Code gilt nicht mehr. Lassen Sie sich von Ihrem Gerät einen neuen zeigen.',
  otherCode: 'Code eingeben',
  confirm: (application) => `${application} verbinden?`,
  confirmLead: (application) =>
    `Ein Gerät möchte sich mit Ihrem Konto bei ${application} anmelden. Es zeigt diesen Code:`,
  confirmWarning: (application) =>
    `Fahren Sie nur fort, wenn Sie das gerade selbst begonnen haben, an einem Gerät vor Ihnen. Hat Ihnen jemand diesen Code oder diese Seite geschickt? Dann fahren Sie nicht fort: Sonst kann diese Person ${application} mit Ihrem Konto verwenden.`,
  decline: 'Nicht verbinden',
  declined: 'Nicht verbunden',
  declinedLead: 'Das Gerät wurde nicht angemeldet. Sie können diese Seite schließen.',
  done: 'Ihr Gerät ist verbunden',
  doneLead: (application) =>
    `Gehen Sie zurück zu Ihrem Gerät: Es ist gleich bei ${application} angemeldet. Sie können diese Seite schließen.`,
};

const texts = withShared({ en, de });
type Texts = (typeof texts)['en'];

const show = (
  services: Services,
  ctx: KoaContextWithOIDC,
  contentIn: (t: Texts) => Content,
): Promise<void> => showPage(services, ctx, (language) => contentIn(texts[language]));

/** A form that posts to the library's route for user codes. */
const codeForm = (ctx: KoaContextWithOIDC, content: Html): Html =>
  html`<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
<input type="hidden" name="xsrf" value="${String(ctx.oidc.session?.state?.['secret'])}">
<input type="hidden" name="${localesParameter}" value="${localesOf(ctx)}">
${content}
</form>`;

const inputPage = (
  ctx: KoaContextWithOIDC,
  t: Texts,
  { value, problem }: { value: string; problem?: string | undefined },
): Content => ({
  heading: t.connect,
  lead: t.connectLead,
  problem,
  body: codeForm(
    ctx,
    html`${field({
      name: 'user_code',
      label: t.code,
      autocomplete: 'off',
      maxLength: 20,
      value,
      hint: t.codeHint,
      autofocus: true,
      isProblem: problem !== undefined,
    })}${submit(t.continue)}`,
  ),
});

const toAccount = ({ baseUrl }: Services, t: Texts): Html =>
  goOn(`${baseUrl}/account`, t.toAccount);

const overPage = ({ baseUrl }: Services, t: Texts): Content => ({
  heading: t.connect,
  problem: t.over,
  body: goOn(`${baseUrl}/device`, t.otherCode),
});

// What the library throws about a user code. It exports neither the classes nor their names.
const codeErrors: ReadonlySet<string> = new Set([
  'NotFoundError',
  'ExpiredError',
  'AlreadyUsedError',
]);

/**
 * Asks for the code of a device, or says why nothing comes of one. A wrong code counts against the address of who typed
 * it, so that nobody finds one by trying.
 *
 * @param failure What happened to the code before; absent if none was sent.
 */
export async function askUserCode(
  services: Services,
  ctx: KoaContextWithOIDC,
  fault?: { readonly error: string; readonly error_description?: string | undefined },
  failure?: Error,
): Promise<void> {
  const { route, session, params } = ctx.oidc;
  if (!failure) return show(services, ctx, (t) => inputPage(ctx, t, { value: '' }));
  // The library stores the session after an error, and cannot if the browser brought none.
  if (session?.exp === undefined) Object.assign(session ?? {}, { touched: false });
  if (failure.name === 'AbortedError')
    return show(services, ctx, (t) => ({
      heading: t.declined,
      lead: t.declinedLead,
      body: toAccount(services, t),
    }));
  const isWrong = codeErrors.has(failure.name) || failure instanceof DeviceCodeUsed;
  if (route === 'code_verification' && (isWrong || failure.name === 'NoCodeError')) {
    if (isWrong) await noteFailure(services, requestOf(ctx).ip);
    ctx.status = 422;
    const value = String(params?.['user_code'] ?? '');
    return show(services, ctx, (t) =>
      inputPage(ctx, t, { value, problem: isWrong ? t.wrongCode : t.wrongInput }),
    );
  }
  if (isWrong || failure instanceof errors.SessionNotFound) {
    ctx.status = 422;
    return show(services, ctx, (t) => overPage(services, t));
  }
  if (failure instanceof errors.InvalidRequest && route === 'code_verification') {
    ctx.status = 403;
    return show(services, ctx, (t) => ({
      heading: t.connect,
      problem: t.problem.FORM_EXPIRED,
      body: goOn(`${services.baseUrl}/device`, t.otherCode),
    }));
  }
  return showPage(services, ctx, (language) =>
    failedPage(services, language, fault ?? { error: 'server_error' }),
  );
}

/**
 * Replaces the page by which the library sends on a code from an address. It would need a script, and look up the code
 * without anybody pressing a button.
 */
export async function replaceCodeForm(services: Services, ctx: KoaContextWithOIDC): Promise<void> {
  const value = ctx.oidc?.params?.['user_code'];
  if (ctx.oidc?.route !== 'code_verification' || ctx.method === 'POST') return;
  if (typeof value !== 'string' || ctx.status !== 200) return;
  await show(services, ctx, (t) => inputPage(ctx, t, { value: value.slice(0, 20) }));
}

/** Asks whether the person wants to sign a device in. Anybody can send such a code to anybody, so the page warns. */
export function confirmUserCode(
  services: Services,
  ctx: KoaContextWithOIDC,
  application: string,
  userCode: string,
): Promise<void> {
  return show(services, ctx, (t) => ({
    heading: t.confirm(application),
    lead: t.confirmLead(application),
    body: html`<p class="code"><code>${userCode}</code></p><p class="warn">${t.confirmWarning(application)}</p>
${codeForm(
  ctx,
  html`<input type="hidden" name="user_code" value="${userCode}">
<button type="submit" name="confirm" value="yes">${t.continue}</button>
<button type="submit" name="abort" value="yes" class="quiet">${t.decline}</button>`,
)}`,
  }));
}

/** Says that the device is signed in. */
export const showConnected = (services: Services, ctx: KoaContextWithOIDC): Promise<void> =>
  show(services, ctx, (t) => ({
    heading: t.done,
    lead: t.doneLead(ctx.oidc.client?.clientName ?? ''),
    body: toAccount(services, t),
  }));
