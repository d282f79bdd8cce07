import type { Html } from '../../../html/markup.ts';
import { confirmTotp, createBackupCodes, enrollTotp, skipEnrollment } from '../../factors/steps.ts';
import {
  appPage,
  backupCodesPage,
  chooseFactorPage,
  newCodesPage,
} from '../../pages/factors/enroll.ts';
import { type FactorKind, otherWays } from '../../pages/factors/verify.ts';
import { nextStepsOf } from '../../steps.ts';
import type { Answer, FormPage, PageRequest } from '../form-page.ts';
import { frameOf, type Visit } from '../visit.ts';

const choosePath = '/enroll';
const paths: Readonly<Record<FactorKind, string>> = {
  TOTP: '/enroll/app',
  PASSKEY: '/enroll/passkey',
  BACKUP_CODES: '/enroll/backup-codes',
};

/** The kinds that a person can begin with: backup codes stand in for another factor, if there can be one. */
function firstKinds({ settings: { factors } }: Visit): readonly FactorKind[] {
  const others = factors.filter((kind) => kind !== 'BACKUP_CODES');
  return others.length > 0 ? others : factors;
}

/** Whether the person may go on without a factor. */
const isOptional = async ({ context, interaction, settings }: Visit): Promise<boolean> =>
  (await nextStepsOf(context, interaction, settings)).some((step) => step !== 'ENROLL_FACTOR');

/** The data that every page of an enrolment needs. */
export async function enrollFrameOf(visit: Visit, kind: FactorKind, { problem }: PageRequest) {
  const frame = frameOf(visit, paths[kind], problem?.text);
  const others: Html = otherWays(frame, []);
  const choose = firstKinds(visit).length > 1 ? `${visit.base}${choosePath}` : undefined;
  return { ...frame, others, choose, isOptional: await isOptional(visit) };
}

/** Goes on without a factor. */
export async function skip({ context, access }: Visit): Promise<Answer> {
  await skipEnrollment(context, access);
  return 'signed-in';
}

/** Where a person goes on who has just added a factor: backup codes are offered, if there are any. */
export const afterEnrollment = ({ settings }: Visit): Answer =>
  settings.factors.includes('BACKUP_CODES') ? { goTo: paths.BACKUP_CODES } : 'signed-in';

/** Asks which factor the person wants to add; of one kind, leads to its page. */
export const chooseFactorForm: FormPage = {
  path: choosePath,
  step: 'ENROLL_FACTOR',
  wrong: (t) => t.problem.CODE,
  async show(visit, { problem }) {
    const kinds = firstKinds(visit);
    const [only] = kinds;
    if (only !== undefined && kinds.length === 1) return { goTo: paths[only] };
    const frame = frameOf(visit, choosePath, problem?.text);
    return {
      markup: chooseFactorPage({
        ...frame,
        kinds,
        isOptional: await isOptional(visit),
        others: otherWays(frame, []),
      }),
    };
  },
  async submit(visit, { form }) {
    if (form.has('skip')) return skip(visit);
    const kind = firstKinds(visit).find((one) => one === form.get('kind'));
    return { goTo: kind === undefined ? choosePath : paths[kind] };
  },
};

/** Adds an authenticator app. */
export const enrollAppForm: FormPage = {
  path: paths.TOTP,
  step: 'ENROLL_FACTOR',
  wrong: (t) => t.problem.FACTOR,
  async show(visit, request) {
    const { context, access, settings } = visit;
    if (!settings.factors.includes('TOTP')) return { goTo: choosePath };
    const { interaction: _same, ...shown } = await enrollTotp(context, access);
    return {
      markup: appPage({ ...(await enrollFrameOf(visit, 'TOTP', request)), ...shown }),
    };
  },
  async submit(visit, { form }) {
    if (form.has('skip')) return skip(visit);
    await confirmTotp(visit.context, visit.access, { code: form.get('code') ?? '' });
    return afterEnrollment(visit);
  },
};

/** Whether the person has shown a second factor, so that backup codes are theirs to make. */
const hasShownFactor = ({ interaction, settings }: Visit): boolean =>
  interaction.authenticationMethods.includes('mfa') && settings.factors.includes('BACKUP_CODES');

/** Offers backup codes, and shows them once. */
export const backupCodesForm: FormPage = {
  path: paths.BACKUP_CODES,
  step: 'ENROLL_FACTOR',
  isOpen: hasShownFactor,
  wrong: (t) => t.problem.CODE,
  async show(visit, request) {
    if (!hasShownFactor(visit) && !firstKinds(visit).includes('BACKUP_CODES'))
      return { goTo: choosePath };
    return { markup: backupCodesPage(await enrollFrameOf(visit, 'BACKUP_CODES', request)) };
  },
  async submit(visit, { form }) {
    if (form.has('saved')) return 'signed-in';
    if (form.has('skip')) return hasShownFactor(visit) ? 'signed-in' : skip(visit);
    const { codes } = await createBackupCodes(visit.context, visit.access);
    return { markup: newCodesPage({ ...frameOf(visit, paths.BACKUP_CODES), codes }) };
  },
};
