import { readFactorState } from '../../../factors/policy.ts';
import type { Html } from '../../../html/markup.ts';
import { forgetPerson, verifyBackupCode, verifyTotp } from '../../factors/steps.ts';
import { type FactorKind, factorPage, otherWays } from '../../pages/factors/verify.ts';
import type { FormPage } from '../form-page.ts';
import { frameOf, type Visit } from '../visit.ts';

const paths: Readonly<Record<FactorKind, string>> = {
  TOTP: '/factor/app',
  PASSKEY: '/factor/passkey',
  BACKUP_CODES: '/factor/backup-code',
};

/** The kinds of second factors that the person can show. */
export async function usableKinds({ context, interaction, settings }: Visit) {
  const { prisma } = context.database;
  return (await readFactorState(prisma, settings, interaction.userId ?? '')).usable;
}

/** The markup of the ways beside this one on the page of a second factor. */
export async function otherFactors(visit: Visit, here: FactorKind): Promise<Html> {
  const others = (await usableKinds(visit)).filter((kind) => kind !== here);
  return otherWays(
    frameOf(visit, paths[here]),
    others.map((kind) => ({
      url: `${visit.base}${paths[kind]}`,
      text: visit.texts.factor.verify[kind].instead,
    })),
  );
}

/** Leads to the page of the factor that the person is most likely to show. */
export const factorForm: FormPage = {
  path: '/factor',
  step: 'VERIFY_FACTOR',
  wrong: (t) => t.problem.CODE,
  async show(visit) {
    const [kind = 'TOTP'] = await usableKinds(visit);
    return { goTo: paths[kind] };
  },
  submit: async () => ({ goTo: '/factor' }),
};

const codeForm = (kind: 'TOTP' | 'BACKUP_CODES', verify: typeof verifyTotp): FormPage => ({
  path: paths[kind],
  step: 'VERIFY_FACTOR',
  wrong: (t) => t.problem.FACTOR,
  async show(visit, { problem }) {
    if (!(await usableKinds(visit)).includes(kind)) return { goTo: '/factor' };
    return {
      markup: factorPage({
        ...frameOf(visit, paths[kind], problem?.text),
        kind,
        others: await otherFactors(visit, kind),
      }),
    };
  },
  async submit({ context, access }, { form }) {
    await verify(context, access, { code: form.get('code') ?? '' });
    return 'signed-in';
  },
});

/** Asks for a code of the authenticator app. */
export const appFactorForm = codeForm('TOTP', verifyTotp);

/** Asks for a backup code. */
export const backupCodeForm = codeForm('BACKUP_CODES', verifyBackupCode);

/** Begins again with another account. */
export const otherAccountForm: FormPage = {
  path: '/other-account',
  wrong: (t) => t.problem.CODE,
  isOpen: () => true,
  show: () => ({ goTo: '' }),
  async submit({ context, access }) {
    await forgetPerson(context, access);
    return { goTo: '?sign-in' };
  },
};
