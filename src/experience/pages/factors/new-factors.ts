import type { FactorType } from '../../../generated/prisma/client.ts';
import { html } from '../../../markup.ts';
import { confirmTotp, createBackupCodes, enrollTotp } from '../../../proving/factors.ts';
import { confirmPasskey, startPasskeyEnrollment } from '../../../proving/passkeys.ts';
import { authenticatorSecret, backupCodeList, codeField } from '../../../web/fields.ts';
import { form, submit } from '../../../web/form.ts';
import { newPasskeyForm, withoutPasskeys } from '../../../web/passkeys/form.ts';
import { orFailed, responseOf } from '../../../web/passkeys/response.ts';
import { formAt } from '../../../web/visit.ts';
import { interactionHolder } from '../../holder.ts';
import { offersPasskeys, passkeyScriptAt } from '../../site/controls.ts';
import { leadOn } from '../../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../../site/visit.ts';
import {
  afterEnrollment,
  choosePath,
  firstKinds,
  otherThan,
  enrollPaths as paths,
  skip,
} from './enroll.ts';

/** Adds an authenticator app. */
const newAppPage: InteractionPage = {
  path: paths.TOTP,
  step: 'ENROLL_FACTOR',
  wrong: ({ texts: t }) => t.wrong.FACTOR,
  async show(visit, request) {
    const { texts, settings } = visit;
    const { newFactor: t } = texts;
    if (!settings.factors.includes('TOTP')) return { goTo: choosePath };
    const code = codeField(t.appCode, texts, request, { hint: t.appCodeHint, autofocus: false });
    return {
      heading: texts.ofFactor.TOTP.setUp,
      lead: t.appLead,
      body: html`${authenticatorSecret(texts, await enrollTotp(interactionHolder(visit)))}${form(
        formAt(visit, paths.TOTP),
        html`${code}${submit(texts.continue)}`,
      )}${await otherThan(visit, 'TOTP')}`,
    };
  },
  async submit(visit, { form: sent }) {
    if (sent.has('skip')) return skip(visit);
    await confirmTotp(interactionHolder(visit), { code: sent.get('code') ?? '' });
    return afterEnrollment(visit);
  },
};

/** Adds a passkey. */
const newPasskeyPage: InteractionPage = {
  path: paths.PASSKEY,
  step: 'ENROLL_FACTOR',
  wrong: ({ texts: t }) => t.wrongPasskey,
  async show(visit, { form: sent }) {
    const { texts: t } = visit;
    if (!offersPasskeys(visit)) return { goTo: choosePath };
    const frame = formAt(visit, paths.PASSKEY);
    return {
      heading: t.createPasskey,
      lead: t.createPasskeyLead,
      script: passkeyScriptAt(visit, paths.PASSKEY),
      body: html`${withoutPasskeys(t)}${newPasskeyForm(frame, t, sent)}${await otherThan(visit, 'PASSKEY')}`,
    };
  },
  async submit(visit, request) {
    const holder = interactionHolder(visit);
    const { form: sent } = request;
    if (sent.has('options')) return { json: await startPasskeyEnrollment(holder) };
    if (sent.has('skip')) return skip(visit);
    const given = { response: responseOf(request), name: sent.get('name') };
    await orFailed(confirmPasskey(holder, given));
    return afterEnrollment(visit);
  },
};

/** Whether the person has shown a second factor, and so may make backup codes. */
const hasShownFactor = ({ interaction, settings }: InteractionVisit): boolean =>
  interaction.authenticationMethods.includes('mfa') && settings.factors.includes('BACKUP_CODES');

/** Offers backup codes, and shows them once. */
const backupCodesPage: InteractionPage = {
  path: paths.BACKUP_CODES,
  step: 'ENROLL_FACTOR',
  isOpen: hasShownFactor,
  async show(visit) {
    const { texts } = visit;
    const { newFactor: t } = texts;
    if (!hasShownFactor(visit) && !firstKinds(visit).includes('BACKUP_CODES'))
      return { goTo: choosePath };
    return {
      heading: texts.ofFactor.BACKUP_CODES.setUp,
      lead: t.backupLead,
      body: html`${form(
        formAt(visit, paths.BACKUP_CODES),
        submit(texts.ofFactor.BACKUP_CODES.add),
      )}${await otherThan(visit, 'BACKUP_CODES')}`,
    };
  },
  async submit(visit, { form: sent }) {
    const { texts } = visit;
    if (sent.has('saved')) return leadOn(visit);
    if (sent.has('skip')) return hasShownFactor(visit) ? leadOn(visit) : skip(visit);
    const codes = await createBackupCodes(interactionHolder(visit));
    return {
      heading: texts.newFactor.codes,
      lead: texts.newFactor.codesLead,
      body: html`${backupCodeList(texts, codes)}${form(
        formAt(visit, paths.BACKUP_CODES),
        html`<button type="submit" name="saved" value="yes">${texts.factor.codesSaved}</button>`,
      )}`,
    };
  },
};

/** The page that adds each kind of factor. */
export const newFactorPages: Readonly<Record<FactorType, InteractionPage>> = {
  TOTP: newAppPage,
  PASSKEY: newPasskeyPage,
  BACKUP_CODES: backupCodesPage,
};
