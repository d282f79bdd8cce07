import { NotFoundError } from '../../errors.ts';
import { form } from '../../experience/pages/form.ts';
import { html } from '../../html/markup.ts';
import { listSocialProviders } from '../../identity-providers/choice.ts';
import { idForQuery } from '../../ids.ts';
import {
  deleteViewerIdentity,
  revokeViewerGrant,
  startViewerFederation,
} from '../operations/links.ts';
import { accountPage, dateIn, entries, entry } from '../pages/frame.ts';
import type { AccountPage, AccountVisit } from './account-page.ts';

/** Shows the identities at identity providers, removes one, or leads to linking one. */
export const identitiesPage: AccountPage = {
  path: '/identities',
  needsProof: true,
  async show(visit, request) {
    const { texts: t, base, csrfToken, context, user } = visit;
    const { prisma } = context.database;
    const identities = await prisma.userIdentity.findMany({
      where: { userId: user.id },
      include: { provider: true },
      orderBy: { id: 'asc' },
      take: 100,
    });
    const frame = { action: `${base}/identities`, csrfToken };
    const items = identities.map(({ id, provider, email, linkedAt }) =>
      entry(
        provider.name,
        [...(email === null ? [] : [email]), t.addedOn(dateIn(visit, linkedAt))],
        form(
          frame,
          html`<button class="text" type="submit" name="id" value="${id}" aria-label="${t.remove}: ${provider.name}">${t.remove}</button>`,
        ),
      ),
    );
    const linked = new Set(identities.map(({ identityProviderId }) => identityProviderId));
    const others = (await listSocialProviders(prisma)).filter(({ id }) => !linked.has(id));
    return {
      markup: accountPage(visit, request, {
        heading: t.identities,
        lead: t.identitiesLead,
        body: html`${items.length > 0 ? entries(items) : html`<p>${t.none}</p>`}${others.map(
          ({ id, name }) =>
            form(
              frame,
              html`<button class="quiet" type="submit" name="link" value="${id}">${t.linkTo(name)}</button>`,
            ),
        )}`,
      }),
    };
  },
  async submit({ context }, { form: sent }) {
    const provider = sent.get('link');
    try {
      if (provider !== null) {
        const { url } = await startViewerFederation(context, { identityProviderId: provider });
        return { goOutTo: url };
      }
      await deleteViewerIdentity(context, { id: idForQuery(sent.get('id'), 'UserIdentity') ?? '' });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    return { goTo: '/identities?done=identities' };
  },
};

/** A scope in the words in which the person allowed it: those of OpenID Connect belong to no resource. */
const wordsOf = ({ common }: AccountVisit, resource: string, name: string): string =>
  (resource === '' ? common.scope[name] : undefined) ?? name;

/** Shows what the person has allowed applications, and takes it back. */
export const applicationsPage: AccountPage = {
  path: '/applications',
  async show(visit, request) {
    const { texts: t, base, csrfToken, context, user } = visit;
    const grants = await context.database.prisma.userGrant.findMany({
      where: { userId: user.id },
      include: { application: true, scopes: true },
      orderBy: { id: 'asc' },
      take: 100,
    });
    const items = grants.map(({ id, application, scopes, createdAt }) =>
      entry(
        application.name,
        [
          [...new Set(scopes.map(({ name, resource }) => wordsOf(visit, resource, name)))].join(
            ', ',
          ),
          t.allowedOn(dateIn(visit, createdAt)),
        ],
        form(
          { action: `${base}/applications`, csrfToken },
          html`<button class="text" type="submit" name="id" value="${id}" aria-label="${t.remove}: ${application.name}">${t.remove}</button>`,
        ),
      ),
    );
    return {
      markup: accountPage(visit, request, {
        heading: t.applications,
        lead: t.applicationsLead,
        body: items.length > 0 ? entries(items) : html`<p>${t.none}</p>`,
      }),
    };
  },
  async submit({ context }, { form: sent }) {
    try {
      await revokeViewerGrant(context, { id: idForQuery(sent.get('id'), 'UserGrant') ?? '' });
    } catch (error) {
      // It ended in the meantime, or in another tab.
      if (!(error instanceof NotFoundError)) throw error;
    }
    return { goTo: '/applications?done=applications' };
  },
};
