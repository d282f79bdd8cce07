import { html } from '../../markup.ts';
import { deleteSessionCookie } from '../../oidc/first-party/cookies.ts';
import { form } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import { accountApp } from '../app.ts';
import { deleteViewer } from '../operations/profile.ts';
import { subpage } from '../site/frame.ts';
import type { AccountPage } from '../site/visit.ts';

const path = '/delete';

/** Deletes the account. */
export const deletePage: AccountPage = {
  path,
  needsProof: true,
  show(visit, request) {
    const { texts: t } = visit;
    return subpage(visit, request, {
      heading: t.deleteAccount,
      lead: t.deleteLead,
      body: form(
        formAt(visit, path),
        html`<button class="bad" type="submit">${t.deleteConfirm}</button>`,
      ),
    });
  },
  async submit({ context }) {
    await deleteViewer(context);
    return { goTo: '/deleted', cookies: [deleteSessionCookie(context, accountApp)] };
  },
};
