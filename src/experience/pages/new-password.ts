import { html } from '../../markup.ts';
import { accountOfPassword, newPasswordField } from '../../web/fields.ts';
import { form, submit } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import { resetPassword } from '../recover.ts';
import { cancel } from '../site/controls.ts';
import { leadOn } from '../site/next-page.ts';
import type { InteractionPage } from '../site/visit.ts';
import { recoveredAddress } from '../steps.ts';
import { recoveryPage } from './address.ts';

const path = '/new-password';

/** Asks for a new password, after a code has proved whose account it is. */
export const newPasswordPage: InteractionPage = {
  path,
  wrong: ({ texts: t }) => t.wrong.CODE,
  async show(visit, request) {
    const { texts: t } = visit;
    const { problem } = request;
    const verification = recoveredAddress(visit.context, visit.interaction);
    if (!verification) {
      if (!problem) return { goTo: '/forgot-password' };
      // The verification has expired while the person chose a password.
      const expired = { ...problem, text: t.wrong.CODE };
      return recoveryPage.show(visit, { ...request, problem: expired });
    }
    const fields = html`${accountOfPassword(verification.recipient)}
${newPasswordField(visit, request, { label: t.newPassword, autofocus: problem === undefined })}
${submit(t.savePassword)}`;
    return {
      heading: t.chooseNewPassword,
      body: html`${form(formAt(visit, path), fields)}${cancel(visit)}`,
    };
  },
  async submit(visit, { form: sent }) {
    await resetPassword(visit.context, visit.access, { password: sent.get('password') ?? '' });
    return leadOn(visit);
  },
};
