import { dateIn, entry } from '../../web/entries.ts';
import { entriesOrNone, subpage } from '../site/frame.ts';
import type { AccountPage } from '../site/visit.ts';

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
    return subpage(visit, request, {
      heading: t.organizations,
      lead: t.organizationsLead,
      body: entriesOrNone(visit, items),
    });
  },
};
