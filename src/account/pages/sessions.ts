import { idForQuery } from '../../ids.ts';
import { html } from '../../markup.ts';
import { dateIn, entries, entry } from '../../web/entries.ts';
import { form } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import {
  endOtherViewerSessions,
  endViewerSession,
  findViewerSession,
} from '../operations/sessions.ts';
import { deviceName } from '../site/device.ts';
import { subpage, unlessGone } from '../site/frame.ts';
import type { AccountPage } from '../site/visit.ts';

const path = '/sessions';

/** Shows where the person is signed in, and ends sessions. */
export const sessionsPage: AccountPage = {
  path,
  async show(visit, request) {
    const { texts: t, context, user } = visit;
    const { prisma } = context.database;
    const current = await findViewerSession(context);
    const sessions = await prisma.session.findMany({
      where: { userId: user.id, expiresAt: { gt: context.clock.now() } },
      orderBy: { lastActiveAt: 'desc' },
      take: 100,
    });
    const tokens = await prisma.personalAccessToken.count({ where: { userId: user.id } });
    const frame = formAt(visit, path);
    const items = sessions.map(({ id, userAgent, ip, lastActiveAt }) => {
      const device = deviceName(t, userAgent);
      const lines = [t.lastActive(dateIn(visit, lastActiveAt)), ip];
      const signOut = html`<button class="text" type="submit" name="id" value="${id}" aria-label="${t.signOutDevice(device)}">${t.signOut}</button>`;
      return entry(
        device,
        lines,
        id === current ? html`<span class="badge">${t.thisDevice}</span>` : form(frame, signOut),
      );
    });
    const signOutOthers = html`<button class="quiet" type="submit" name="others" value="yes">${t.signOutOthers}</button>${tokens > 0 && html`<p class="hint">${t.signOutTokens(tokens)}</p>`}`;
    return subpage(visit, request, {
      heading: t.sessions,
      lead: t.sessionsLead,
      body: html`${entries(items)}${(sessions.length > 1 || tokens > 0) && form(frame, signOutOthers)}`,
    });
  },
  async submit({ context }, { form: sent }) {
    const id = idForQuery(sent.get('id'), 'Session') ?? '';
    if (sent.has('others')) await endOtherViewerSessions(context);
    else await unlessGone(endViewerSession(context, { id }));
    return { goTo: `${path}?done=sessions` };
  },
};
