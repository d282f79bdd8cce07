import { field, form, submit } from '../../experience/pages/form.ts';
import { html } from '../../html/markup.ts';
import { updateViewerUsername } from '../operations/identifiers.ts';
import { updateViewerPassword } from '../operations/password.ts';
import { deleteViewer, updateViewer } from '../operations/profile.ts';
import { accountPage } from '../pages/frame.ts';
import type { AccountPage } from './account-page.ts';

/** Changes name and picture. */
export const profilePage: AccountPage = {
  path: '/profile',
  async show(visit, request) {
    const { texts: t, user, base, csrfToken } = visit;
    const { form: sent, problem } = request;
    const faults = problem?.faults ?? {};
    return {
      markup: accountPage(visit, request, {
        heading: t.profile,
        lead: t.nameLead,
        body: form(
          { action: `${base}/profile`, csrfToken },
          html`${field({
            name: 'name',
            label: t.name,
            autocomplete: 'name',
            maxLength: 128,
            isOptional: true,
            value: sent.get('name') ?? user.name ?? '',
            faults: faults['name'] ? [t.invalidName] : [],
          })}${field({
            name: 'avatar',
            label: t.avatar,
            autocomplete: 'photo',
            maxLength: 2048,
            isOptional: true,
            hint: t.avatarHint,
            value: sent.get('avatar') ?? user.avatar ?? '',
            faults: faults['avatar'] ? [t.invalidAvatar] : [],
          })}${submit(t.save)}`,
        ),
      }),
    };
  },
  async submit({ context }, { form: sent }) {
    await updateViewer(context, {
      name: sent.get('name')?.trim() || null,
      avatar: sent.get('avatar')?.trim() || null,
    });
    return { goTo: '?done=profile' };
  },
};

/** Changes the user name. */
export const usernamePage: AccountPage = {
  path: '/username',
  needsProof: true,
  async show(visit, request) {
    const { texts: t, common, user, base, csrfToken } = visit;
    const { form: sent, problem } = request;
    return {
      markup: accountPage(visit, request, {
        heading: t.username,
        lead: t.usernameLead,
        body: form(
          { action: `${base}/username`, csrfToken },
          html`${field({
            name: 'username',
            label: t.username,
            autocomplete: 'username',
            maxLength: 128,
            hint: common.usernameHint,
            value: sent.get('username') ?? user.username ?? '',
            faults: problem?.faults?.['username'] ?? [],
          })}${submit(t.save)}`,
        ),
      }),
    };
  },
  async submit({ context }, { form: sent }) {
    await updateViewerUsername(context, { username: sent.get('username') ?? '' });
    return { goTo: '?done=username' };
  },
};

/** Sets a new password. */
export const passwordPage: AccountPage = {
  path: '/password',
  needsProof: true,
  async show(visit, request) {
    const { texts: t, common, user, base, csrfToken, settings } = visit;
    const { minLength } = settings.passwordPolicy;
    const faults = request.problem?.passwordFaults ?? [];
    return {
      markup: accountPage(visit, request, {
        heading: common.chooseNewPassword,
        lead: t.passwordLead,
        body: form(
          { action: `${base}/password`, csrfToken },
          html`<input class="visually-hidden" type="text" name="account" autocomplete="username" value="${user.username ?? user.primaryEmail ?? ''}" readonly tabindex="-1" aria-hidden="true">${field(
            {
              name: 'password',
              label: common.newPassword,
              type: 'password',
              autocomplete: 'new-password',
              hint: common.passwordHint(minLength),
              faults: faults.map(({ code, message }) => {
                const text = common.rejected[code];
                return typeof text === 'function' ? text(minLength) : (text ?? message);
              }),
            },
          )}${submit(common.savePassword)}`,
        ),
      }),
    };
  },
  async submit({ context }, { form: sent }) {
    await updateViewerPassword(context, { password: sent.get('password') ?? '' });
    return { goTo: '?done=password' };
  },
};

/** Deletes the account. */
export const deletePage: AccountPage = {
  path: '/delete',
  needsProof: true,
  async show(visit, request) {
    const { texts: t, base, csrfToken } = visit;
    return {
      markup: accountPage(visit, request, {
        heading: t.deleteAccount,
        lead: t.deleteLead,
        body: form(
          { action: `${base}/delete`, csrfToken },
          html`<button class="bad" type="submit">${t.deleteConfirm}</button>`,
        ),
      }),
    };
  },
  async submit({ context }) {
    await deleteViewer(context);
    return { leaveTo: '/deleted' };
  },
};
