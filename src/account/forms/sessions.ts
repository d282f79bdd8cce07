import { NotFoundError } from '../../errors.ts';
import { form } from '../../experience/pages/form.ts';
import { html } from '../../html/markup.ts';
import { idForQuery } from '../../ids.ts';
import {
  endOtherViewerSessions,
  endViewerSession,
  findViewerSession,
} from '../operations/sessions.ts';
import { deviceName } from '../pages/device.ts';
import { accountPage, dateIn, entries, entry } from '../pages/frame.ts';
import type { AccountPage } from './account-page.ts';

/** Shows where the person is signed in, and ends sessions. */
export const sessionsPage: AccountPage = {
  path: '/sessions',
  async show(visit, request) {
    const { texts: t, base, csrfToken, context, user } = visit;
    const current = await findViewerSession(context);
    const sessions = await context.database.prisma.session.findMany({
      where: { userId: user.id, expiresAt: { gt: context.clock.now() } },
      orderBy: { lastActiveAt: 'desc' },
      take: 100,
    });
    const frame = { action: `${base}/sessions`, csrfToken };
    const items = sessions.map(({ id, userAgent, ip, lastActiveAt }) => {
      const device = deviceName(t, userAgent);
      const lines = [t.lastActive(dateIn(visit, lastActiveAt)), ip];
      return entry(
        device,
        lines,
        id === current
          ? html`<span class="badge">${t.thisDevice}</span>`
          : form(
              frame,
              html`<button class="text" type="submit" name="id" value="${id}" aria-label="${t.signOutDevice(device)}">${t.signOut}</button>`,
            ),
      );
    });
    return {
      markup: accountPage(visit, request, {
        heading: t.sessions,
        lead: t.sessionsLead,
        body: html`${entries(items)}${
          sessions.length > 1 &&
          form(
            frame,
            html`<button class="quiet" type="submit" name="others" value="yes">${t.signOutOthers}</button>`,
          )
        }`,
      }),
    };
  },
  async submit({ context }, { form: sent }) {
    if (sent.has('others')) {
      await endOtherViewerSessions(context);
      return { goTo: '/sessions?done=sessions' };
    }
    try {
      await endViewerSession(context, { id: idForQuery(sent.get('id'), 'Session') ?? '' });
    } catch (error) {
      // It ended in the meantime, or in another tab.
      if (!(error instanceof NotFoundError)) throw error;
    }
    return { goTo: '/sessions?done=sessions' };
  },
};

/** Shows the organizations of the person. */
export const organizationsPage: AccountPage = {
  path: '/organizations',
  async show(visit, request) {
    const { texts: t, context, user } = visit;
    const memberships = await context.database.prisma.organizationUser.findMany({
      where: { userId: user.id },
      include: { organization: true },
      orderBy: { organizationId: 'asc' },
      take: 100,
    });
    const items = memberships.map(({ organization, createdAt }) =>
      entry(organization.name, [
        ...(organization.description === null ? [] : [organization.description]),
        t.memberSince(dateIn(visit, createdAt)),
      ]),
    );
    return {
      markup: accountPage(visit, request, {
        heading: t.organizations,
        lead: t.organizationsLead,
        body: items.length > 0 ? entries(items) : html`<p>${t.none}</p>`,
      }),
    };
  },
};
