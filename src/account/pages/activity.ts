import { readActivity } from '../site/activity.ts';
import { entriesOrNone, subpage } from '../site/frame.ts';
import type { AccountPage } from '../site/visit.ts';

/** How many entries the page shows. */
const most = 50;

/** Shows what happened to the account. */
export const activityPage: AccountPage = {
  path: '/activity',
  async show(visit, request) {
    const { texts: t } = visit;
    return subpage(visit, request, {
      heading: t.activity.heading,
      lead: t.activity.lead,
      body: entriesOrNone(visit, await readActivity(visit, most)),
    });
  },
};
