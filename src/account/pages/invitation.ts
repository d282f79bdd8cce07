import { idForQuery } from '../../ids.ts';
import { foldCase } from '../../input.ts';
import { html } from '../../markup.ts';
import {
  acceptOwnInvitation,
  hasLeftSince,
  statusAt,
} from '../../organization-invitations/operations.ts';
import { form, submit } from '../../web/form.ts';
import { goOn } from '../../web/page.ts';
import type { PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import { subpage } from '../site/frame.ts';
import type { AccountPage, AccountVisit } from '../site/visit.ts';

const path = '/invitation';

const idIn = ({ query }: PageRequest): string =>
  idForQuery(query.get('id'), 'OrganizationInvitation') ?? '';

/** The invitation, if whoever has its address can still accept it; null if not. */
async function findPending({ context, user }: AccountVisit, id: string) {
  const { prisma } = context.database;
  const found = await prisma.organizationInvitation.findUnique({
    where: { id },
    include: { organization: { select: { name: true } } },
  });
  if (!found || statusAt(found, context.clock.now()) !== 'PENDING') return null;
  return (await hasLeftSince(prisma, found, user.id)) ? null : found;
}

/** Accepts an invitation to an organization: the page that its link leads to. */
export const invitationPage: AccountPage = {
  path,
  async show(visit, request) {
    const { texts: t, base, user } = visit;
    const id = idIn(request);
    const invitation = await findPending(visit, id);
    const heading = t.invitation;
    if (!invitation)
      return subpage(visit, request, { heading, lead: t.invitationOver, body: html`` });
    const { organization, invitee } = invitation;
    const lead = t.invitedTo(organization.name);
    // Whoever has the link is not told more of the address than whether it is theirs.
    if (foldCase(invitee) !== foldCase(user.primaryEmail ?? '')) {
      const signOut = form(formAt(visit, '/sign-out'), submit(t.signOut));
      const body = html`<p>${t.invitedOther(user.primaryEmail ?? user.username ?? t.account)}</p>${signOut}`;
      return subpage(visit, request, { heading, lead, body });
    }
    if (!user.isEmailVerified) {
      const body = html`<p>${t.invitedUnverified}</p>${goOn(`${base}/email`, t.continue)}`;
      return subpage(visit, request, { heading, lead, body });
    }
    return subpage(visit, request, {
      heading,
      lead,
      body: form(formAt(visit, `${path}?id=${id}`), submit(t.join(organization.name))),
    });
  },
  async submit({ context, user }, request) {
    await acceptOwnInvitation(context, { id: idIn(request), userId: user.id });
    return { goTo: '/organizations?done=invitation' };
  },
};
