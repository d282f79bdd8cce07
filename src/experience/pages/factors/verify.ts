import { readFactorState } from '../../../factors/policy.ts';
import type { FactorType } from '../../../generated/prisma/client.ts';
import { type Html, html } from '../../../markup.ts';
import { verifyBackupCode, verifyTotp } from '../../../proving/factors.ts';
import { ways } from '../../../web/entries.ts';
import { action, field, form, submit } from '../../../web/form.ts';
import { formAt } from '../../../web/visit.ts';
import { interactionHolder } from '../../holder.ts';
import { forgetPerson } from '../../interaction.ts';
import { cancel, passkeyScriptAt } from '../../site/controls.ts';
import { leadOn } from '../../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../../site/visit.ts';
import { askForPasskey, submitPasskey } from '../passkey.ts';

const paths: Readonly<Record<FactorType, string>> = {
  TOTP: '/factor/app',
  PASSKEY: '/factor/passkey',
  BACKUP_CODES: '/factor/backup-code',
};

/** The kinds of second factors that the person can show. */
async function usableKinds({ context, interaction, settings }: InteractionVisit) {
  const { prisma } = context.database;
  return (await readFactorState(prisma, settings, interaction.userId ?? '')).usable;
}

/** The links to the other kinds that the person can show, and the button for another account. */
async function otherFactors(visit: InteractionVisit, here: FactorType): Promise<Html> {
  const { texts: t, base } = visit;
  const others = (await usableKinds(visit)).filter((kind) => kind !== here);
  return html`${ways(
    others.map((kind) => ({ url: `${base}${paths[kind]}`, text: t.ofFactor[kind].instead })),
  )}${otherAccount(visit)}`;
}

/** The button that begins again with another account, on the pages of second factors. */
export const otherAccount = (visit: InteractionVisit): Html =>
  html`<div class="below">${action(formAt(visit, otherAccountPage.path), 'other', visit.texts.factor.useOtherAccount)}</div>`;

/** Leads to the page of the factor that the person is most likely to show. */
export const factorPage: InteractionPage = {
  path: '/factor',
  step: 'VERIFY_FACTOR',
  async show(visit) {
    const [kind = 'TOTP'] = await usableKinds(visit);
    return { goTo: paths[kind] };
  },
};

const codePage = (kind: 'TOTP' | 'BACKUP_CODES', verify: typeof verifyTotp): InteractionPage => ({
  path: paths[kind],
  step: 'VERIFY_FACTOR',
  wrong: ({ texts: t }) => t.wrong.FACTOR,
  async show(visit, { problem }) {
    if (!(await usableKinds(visit)).includes(kind)) return { goTo: '/factor' };
    const { texts: t } = visit;
    const { heading, lead, label } = t.ofFactor[kind];
    const code = field({
      name: 'code',
      label,
      // Browsers fill in codes that arrive, but no backup code ever does.
      autocomplete: kind === 'TOTP' ? 'one-time-code' : 'off',
      maxLength: 64,
      autofocus: true,
      isProblem: problem !== undefined,
      ...(kind === 'TOTP' && { sends: t.codeSends }),
    });
    return {
      heading,
      lead,
      body: html`${form(
        formAt(visit, paths[kind]),
        html`${code}${submit(t.continue)}`,
      )}${await otherFactors(visit, kind)}${cancel(visit)}`,
    };
  },
  async submit(visit, { form: sent }) {
    await verify(interactionHolder(visit), { code: sent.get('code') ?? '' });
    return leadOn(visit);
  },
});

/** Asks for a passkey as the second factor. */
const verifyPasskeyPage: InteractionPage = {
  path: paths.PASSKEY,
  step: 'VERIFY_FACTOR',
  wrong: ({ texts: t }) => t.wrongPasskey,
  async show(visit, request) {
    const { texts: t } = visit;
    if (!(await usableKinds(visit)).includes('PASSKEY')) return { goTo: '/factor' };
    return {
      heading: t.usePasskey,
      lead: t.usePasskeyLead,
      script: passkeyScriptAt(visit, paths.PASSKEY),
      body: html`${await askForPasskey(visit, request, paths.PASSKEY, t.usePasskey)}${await otherFactors(visit, 'PASSKEY')}${cancel(visit)}`,
    };
  },
  submit: submitPasskey,
};

/** The page that asks for each kind of factor. */
export const verifyPages: Readonly<Record<FactorType, InteractionPage>> = {
  TOTP: codePage('TOTP', verifyTotp),
  PASSKEY: verifyPasskeyPage,
  BACKUP_CODES: codePage('BACKUP_CODES', verifyBackupCode),
};

/** Begins again with another account. */
export const otherAccountPage: InteractionPage = {
  path: '/other-account',
  isOpen: () => true,
  show: () => ({ goTo: '' }),
  async submit({ context, access }) {
    await forgetPerson(context, access);
    return { goTo: '?sign-in' };
  },
};
