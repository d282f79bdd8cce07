import { Html, html } from '../../../html/markup.ts';
import { page } from '../../../html/page.ts';
import { cancel, type FormFrame, field, form, problemNote, submit } from '../form.ts';
import { type PageFrame, titled } from '../sign-in.ts';
import { type Texts, texts } from '../texts.ts';
import type { FactorKind } from './verify.ts';

/** The content of every page that adds a second factor. */
interface EnrollFrame extends PageFrame {
  /** Whether the person may go on without. */
  readonly isOptional: boolean;
  /** Other ways to go on. */
  readonly others: Html;
}

/** The button that goes on without a factor. */
export const notNow = ({ action, csrfToken }: FormFrame, t: Texts): Html =>
  html`<form class="ways" method="post" action="${action}"><input type="hidden" name="csrf" value="${csrfToken}"><button class="quiet" type="submit" name="skip" value="yes">${t.notNow}</button></form>`;

/** The link to the page that offers other kinds of factors. */
export const chooseOther = (url: string, t: Texts): Html =>
  html`<ul class="ways"><li><a class="button quiet" href="${url}">${t.factor.otherFactor}</a></li></ul>`;

/** The page where a person chooses which second factor to add. */
export function chooseFactorPage(
  shown: EnrollFrame & { readonly kinds: readonly FactorKind[] },
): string {
  const { look, problem, kinds, isOptional, others } = shown;
  const t = texts[look.language];
  const choices = kinds.map(
    (kind) =>
      html`<button type="submit" name="kind" value="${kind}">${t.factor.enroll[kind]}</button>`,
  );
  return page(
    {
      heading: t.factor.choose,
      title: titled(t, t.factor.choose, problem),
      lead: t.factor.chooseLead,
      body: html`${problemNote(problem)}${form(shown, html`${choices}${cancel(t)}`)}${isOptional && notNow(shown, t)}${others}`,
    },
    look,
  );
}

/** The content of the page that adds an authenticator app. */
export interface AppPage extends EnrollFrame {
  readonly secret: string;
  readonly uri: string;
  readonly qrCodeSvg: string;
  /** The URL of the page that offers other kinds; undefined if there are none. */
  readonly choose: string | undefined;
}

/** The page that adds an authenticator app: a QR code, the same as text and as a link, and a field for a code. */
export function appPage(shown: AppPage): string {
  const { look, problem, isOptional, choose, others } = shown;
  const t = texts[look.language];
  const code = field({
    name: 'code',
    label: t.factor.appCode,
    autocomplete: 'one-time-code',
    maxLength: 20,
    hint: t.factor.appCodeHint,
    isProblem: problem !== undefined,
  });
  const key = (shown.secret.match(/.{1,4}/g) ?? []).join(' ');
  return page(
    {
      heading: t.factor.app,
      title: titled(t, t.factor.app, problem),
      lead: t.factor.appLead,
      body: html`${problemNote(problem)}${pictureOf(shown.qrCodeSvg, t)}
<p>${t.factor.typeKey} <code>${key}</code></p>
<p><a href="${shown.uri}">${t.factor.openApp}</a></p>
${form(shown, html`${code}${submit(t.continue)}${cancel(t)}`)}${isOptional && notNow(shown, t)}${
  choose !== undefined && chooseOther(choose, t)
}${others}`,
    },
    look,
  );
}

const pictureOf = (svg: string, t: Texts): Html =>
  new Html(
    svg.replace('<svg ', html`<svg class="qr" role="img" aria-label="${t.factor.qrCode}" `.markup),
  );

/** The page that offers backup codes. */
export function backupCodesPage(shown: EnrollFrame): string {
  const { look, problem, isOptional, others } = shown;
  const t = texts[look.language];
  return page(
    {
      heading: t.factor.backup,
      title: titled(t, t.factor.backup, problem),
      lead: t.factor.backupLead,
      body: html`${problemNote(problem)}${form(shown, html`${submit(t.factor.createCodes)}${cancel(t)}`)}${isOptional && notNow(shown, t)}${others}`,
    },
    look,
  );
}

/** The page that shows new backup codes, once. */
export function newCodesPage(shown: PageFrame & { readonly codes: readonly string[] }): string {
  const { look, codes } = shown;
  const t = texts[look.language];
  const list = codes.map((code) => html`<li><code>${code}</code></li>`);
  return page(
    {
      heading: t.factor.codes,
      lead: t.factor.codesLead,
      body: html`<ol class="codes">${list}</ol><p>${t.factor.codesOnce}</p>${form(
        shown,
        html`<button type="submit" name="saved" value="yes">${t.factor.codesSaved}</button>`,
      )}`,
    },
    look,
  );
}
