import { html } from '../../markup.ts';
import { accountOfPassword, newPasswordField } from '../../web/fields.ts';
import { form, submit } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import { updateViewerPassword } from '../operations/password.ts';
import { subpage } from '../site/frame.ts';
import type { AccountPage } from '../site/visit.ts';

const path = '/password';

/** Sets a new password. */
export const passwordPage: AccountPage = {
  path,
  needsProof: true,
  show(visit, request) {
    const { texts: t, user } = visit;
    const fields = html`${accountOfPassword(user.username ?? user.primaryEmail ?? '')}${newPasswordField(visit, request, { label: t.newPassword })}${submit(t.savePassword)}`;
    return subpage(visit, request, {
      heading: t.chooseNewPassword,
      lead: t.passwordLead,
      body: form(formAt(visit, path), fields),
    });
  },
  async submit({ context }, { form: sent }) {
    await updateViewerPassword(context, { password: sent.get('password') ?? '' });
    return { goTo: '?done=password' };
  },
};
