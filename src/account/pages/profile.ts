import { html } from '../../markup.ts';
import { field, form, submit } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import { updateViewer } from '../operations/profile.ts';
import { subpage } from '../site/frame.ts';
import type { AccountPage } from '../site/visit.ts';

const path = '/profile';

/** Changes name and picture. */
export const profilePage: AccountPage = {
  path,
  show(visit, request) {
    const { texts: t, user } = visit;
    const { form: sent, problem } = request;
    const name = field({
      name: 'name',
      label: t.name,
      autocomplete: 'name',
      maxLength: 128,
      isOptional: true,
      value: sent.get('name') ?? user.name ?? '',
      faults: problem?.faults?.['name'] ? [t.invalidName] : [],
    });
    const avatar = field({
      name: 'avatar',
      label: t.avatar,
      autocomplete: 'photo',
      maxLength: 2048,
      isOptional: true,
      hint: t.avatarHint,
      value: sent.get('avatar') ?? user.avatar ?? '',
      faults: problem?.faults?.['avatar'] ? [t.invalidAvatar] : [],
    });
    return subpage(visit, request, {
      heading: t.profile,
      lead: t.nameLead,
      body: form(formAt(visit, path), html`${name}${avatar}${submit(t.save)}`),
    });
  },
  async submit({ context }, { form: sent }) {
    await updateViewer(context, {
      name: sent.get('name')?.trim() || null,
      avatar: sent.get('avatar')?.trim() || null,
    });
    return { goTo: '?done=profile' };
  },
};
