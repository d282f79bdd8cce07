import type { Application } from '../../generated/prisma/client.ts';
import { idForQuery } from '../../ids.ts';
import { dateIn, entry } from '../../web/entries.ts';
import { revokeViewerGrant } from '../operations/links.ts';
import { entriesOrNone, removeButton, subpage, unlessGone } from '../site/frame.ts';
import type { AccountPage, AccountVisit } from '../site/visit.ts';

const path = '/applications';

/** A scope in the words in which the person allowed it: those of OpenID Connect belong to no resource. */
const wordsOf = ({ texts: t }: AccountVisit, resource: string, name: string): string =>
  (resource === '' ? t.scope[name] : undefined) ?? name;

/** Where an application comes from that nobody here has set up: its name can be any. */
function sourceOf(
  { texts: t }: AccountVisit,
  { origin, metadataUrl }: Pick<Application, 'origin' | 'metadataUrl'>,
): string[] {
  if (origin === 'ADMINISTRATION') return [];
  return [metadataUrl === null ? t.registeredItself : t.comesFrom(new URL(metadataUrl).host)];
}

/** Shows what the person has allowed applications, and takes it back. */
export const applicationsPage: AccountPage = {
  path,
  async show(visit, request) {
    const { texts: t, context, user } = visit;
    const grants = await context.database.prisma.userGrant.findMany({
      where: { userId: user.id },
      include: { application: true, scopes: true },
      orderBy: { id: 'asc' },
      take: 100,
    });
    const items = grants.map(({ id, application, scopes, createdAt, lastUsedAt }) => {
      const { name } = application;
      const words = new Set(scopes.map((scope) => wordsOf(visit, scope.resource, scope.name)));
      const lines = [
        ...sourceOf(visit, application),
        ...(words.size > 0 ? [[...words].join(', ')] : []),
        t.allowedOn(dateIn(visit, createdAt)),
        ...(lastUsedAt === null ? [] : [t.lastUsed(dateIn(visit, lastUsedAt))]),
      ];
      return entry(name, lines, removeButton(visit, path, { id, name }));
    });
    return subpage(visit, request, {
      heading: t.applications,
      lead: t.applicationsLead,
      body: entriesOrNone(visit, items),
    });
  },
  async submit({ context }, { form: sent }) {
    const id = idForQuery(sent.get('id'), 'UserGrant') ?? '';
    await unlessGone(revokeViewerGrant(context, { id }));
    return { goTo: `${path}?done=applications` };
  },
};
