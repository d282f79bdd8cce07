import { NotFoundError } from '../../errors.ts';
import { listSocialProviders } from '../../identity-providers/choice.ts';
import { idForQuery } from '../../ids.ts';
import { html } from '../../markup.ts';
import type { ViewerContext } from '../../services.ts';
import { dateIn, entry } from '../../web/entries.ts';
import { form } from '../../web/form.ts';
import type { Redirection } from '../../web/sent-forms/answer-once.ts';
import { formAt } from '../../web/visit.ts';
import { deleteViewerIdentity, startViewerFederation } from '../operations/links.ts';
import { entriesOrNone, removeButton, subpage, unlessGone } from '../site/frame.ts';
import type { AccountPage } from '../site/visit.ts';

const path = '/identities';

/** Shows the identities at identity providers, removes one, or leads to linking one. */
export const identitiesPage: AccountPage = {
  path,
  needsProof: true,
  async show(visit, request) {
    const { texts: t, context, user } = visit;
    const { prisma } = context.database;
    const identities = await prisma.userIdentity.findMany({
      where: { userId: user.id },
      include: { provider: true },
      orderBy: { id: 'asc' },
      take: 100,
    });
    const items = identities.map(({ id, provider: { name }, email, linkedAt }) =>
      entry(
        name,
        [...(email === null ? [] : [email]), t.addedOn(dateIn(visit, linkedAt))],
        removeButton(visit, path, { id, name }),
      ),
    );
    const linked = new Set(identities.map(({ identityProviderId }) => identityProviderId));
    const others = (await listSocialProviders(prisma)).filter(({ id }) => !linked.has(id));
    const links = others.map(({ id, name }) =>
      form(
        formAt(visit, path),
        html`<button class="quiet" type="submit" name="link" value="${id}">${t.linkTo(name)}</button>`,
      ),
    );
    return subpage(visit, request, {
      heading: t.identities,
      lead: t.identitiesLead,
      body: html`${entriesOrNone(visit, items)}${links}`,
    });
  },
  async submit({ context }, { form: sent }) {
    const identityProviderId = sent.get('link');
    if (identityProviderId !== null) return linkAt(context, identityProviderId);
    const id = idForQuery(sent.get('id'), 'UserIdentity') ?? '';
    await unlessGone(deleteViewerIdentity(context, { id }));
    return { goTo: `${path}?done=identities` };
  },
};

/** Leads to a provider; back to the page if it has been disabled or deleted meanwhile. */
async function linkAt(context: ViewerContext, identityProviderId: string): Promise<Redirection> {
  try {
    return {
      leaveTo: (await startViewerFederation(context, { identityProviderId })).url,
      standsSeconds: null,
    };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    return { goTo: path };
  }
}
