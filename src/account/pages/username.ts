import { html } from '../../markup.ts';
import { field, form, submit } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import { updateViewerUsername } from '../operations/identifiers.ts';
import { subpage } from '../site/frame.ts';
import type { AccountPage } from '../site/visit.ts';

const path = '/username';

/** Changes the user name. */
export const usernamePage: AccountPage = {
  path,
  needsProof: true,
  show(visit, request) {
    const { texts: t, user } = visit;
    const username = field({
      name: 'username',
      label: t.username,
      autocomplete: 'username',
      maxLength: 128,
      hint: t.usernameHint,
      value: request.form.get('username') ?? user.username ?? '',
      faults: request.problem?.faults?.['username'],
    });
    return subpage(visit, request, {
      heading: t.username,
      lead: t.usernameLead,
      body: form(formAt(visit, path), html`${username}${submit(t.save)}`),
    });
  },
  async submit({ context }, { form: sent }) {
    await updateViewerUsername(context, { username: sent.get('username') ?? '' });
    return { goTo: '?done=username' };
  },
};
