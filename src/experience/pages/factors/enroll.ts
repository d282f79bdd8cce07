import type { FactorType } from '../../../generated/prisma/client.ts';
import { type Html, html } from '../../../markup.ts';
import { ways } from '../../../web/entries.ts';
import { form } from '../../../web/form.ts';
import type { Answer } from '../../../web/site.ts';
import { formAt } from '../../../web/visit.ts';
import { skipEnrollment } from '../../holder.ts';
import { cancel } from '../../site/controls.ts';
import { leadOn } from '../../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../../site/visit.ts';
import { nextStepsOf } from '../../steps.ts';
import { otherAccount } from './verify.ts';

/** The path of the page where a person chooses which factor to add. */
export const choosePath = '/enroll';

/** The page that adds each kind of factor. */
export const enrollPaths: Readonly<Record<FactorType, string>> = {
  TOTP: '/enroll/app',
  PASSKEY: '/enroll/passkey',
  BACKUP_CODES: '/enroll/backup-codes',
};

/** The kinds that a person can begin with: backup codes only replace another factor, if there can be one. */
export function firstKinds({ settings: { factors } }: InteractionVisit): readonly FactorType[] {
  const others = factors.filter((kind) => kind !== 'BACKUP_CODES');
  return others.length > 0 ? others : factors;
}

/** The form that goes on without a factor; nothing if one is required. */
async function skipForm(visit: InteractionVisit, path: string): Promise<Html | undefined> {
  const { context, interaction, settings, csrfToken, base, texts: t } = visit;
  const steps = await nextStepsOf(context, interaction, settings);
  if (steps.every((step) => step === 'ENROLL_FACTOR')) return undefined;
  return html`<form class="ways" method="post" action="${base}${path}"><input type="hidden" name="csrf" value="${csrfToken}"><button class="quiet" type="submit" name="skip" value="yes">${t.notNow}</button></form>`;
}

/** Other ways to go on from the page that adds this kind of factor. */
export async function otherThan(visit: InteractionVisit, kind: FactorType): Promise<Html> {
  const { base, texts: t } = visit;
  const choose = { url: `${base}${choosePath}`, text: t.factor.otherFactor };
  return html`${await skipForm(visit, enrollPaths[kind])}${ways([
    firstKinds(visit).length > 1 && choose,
  ])}${otherAccount(visit)}${cancel(visit)}`;
}

/** Goes on without a factor. */
export async function skip(visit: InteractionVisit): Promise<Answer> {
  await skipEnrollment(visit.context, visit.access);
  return leadOn(visit);
}

/** Continues after a factor was added: with backup codes, if the settings offer them. */
export const afterEnrollment = (visit: InteractionVisit): Answer | Promise<Answer> =>
  visit.settings.factors.includes('BACKUP_CODES')
    ? { goTo: enrollPaths.BACKUP_CODES }
    : leadOn(visit);

/** Asks which factor the person wants to add. If there is only one kind, leads to its page. */
export const chooseFactorPage: InteractionPage = {
  path: choosePath,
  step: 'ENROLL_FACTOR',
  async show(visit) {
    const { texts: t } = visit;
    const kinds = firstKinds(visit);
    const [only] = kinds;
    if (only !== undefined && kinds.length === 1) return { goTo: enrollPaths[only] };
    const choices = kinds.map(
      (kind) =>
        html`<button type="submit" name="kind" value="${kind}">${t.ofFactor[kind].choose}</button>`,
    );
    return {
      heading: t.factor.choose,
      lead: t.factor.chooseLead,
      body: html`${form(formAt(visit, choosePath), choices)}${await skipForm(
        visit,
        choosePath,
      )}${otherAccount(visit)}${cancel(visit)}`,
    };
  },
  async submit(visit, { form: sent }) {
    if (sent.has('skip')) return skip(visit);
    const kind = firstKinds(visit).find((one) => one === sent.get('kind'));
    return { goTo: kind === undefined ? choosePath : enrollPaths[kind] };
  },
};
