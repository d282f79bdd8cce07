import { type Html, html } from '../../markup.ts';
import { dateIn, entries, entry } from '../../web/entries.ts';
import { form, submit } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import { findToReview, type Reviewed } from '../review.ts';
import { leadOn } from '../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../site/visit.ts';
import { nextStepsOf } from '../steps.ts';

const path = '/review';

/**
 * Shows what else gives access to the account, at the end of a recovery. It removes nothing: a code to an address
 * proves too little, and a thief of the mailbox could remove the second factors.
 */
export const reviewPage: InteractionPage = {
  path,
  isOpen: ({ interaction: { event } }) => event === 'RESET_PASSWORD',
  async show(visit) {
    const { context, interaction, settings, texts } = visit;
    const { review: t } = texts;
    // The second factor comes first: until then the person must not learn how the account is protected.
    const isLast = (await nextStepsOf(context, interaction, settings))[0] === 'SUBMIT';
    const found = isLast ? await findToReview(context, interaction) : null;
    if (!found) return leadOn(visit);
    return {
      heading: t.heading,
      lead: t.lead,
      body: html`${listsOf(visit, found)}
<p>${t.remove}</p>
<p><a href="${context.baseUrl}/account" target="_blank" rel="noopener noreferrer">${t.account}</a></p>
${form(formAt(visit, path), submit(texts.continue))}`,
    };
  },
  submit: (visit) => leadOn(visit, { isReviewed: true }),
};

function listsOf(visit: InteractionVisit, { identities, factors, tokens }: Reviewed): Html[] {
  const { review: t, ofFactor: kinds } = visit.texts;
  const added = (at: Date) => t.added(dateIn(visit, at));
  const lists: readonly [heading: string, items: Html[]][] = [
    [
      t.identities,
      identities.map(({ provider, email, linkedAt }) =>
        entry(provider.name, [...(email === null ? [] : [email]), added(linkedAt)]),
      ),
    ],
    [
      t.factors,
      factors.map(({ type, name, createdAt }) =>
        entry(name ?? kinds[type].name, [
          ...(name === null ? [] : [kinds[type].name]),
          added(createdAt),
        ]),
      ),
    ],
    [t.tokens, tokens.map(({ name, createdAt }) => entry(name, [added(createdAt)]))],
  ];
  return lists
    .filter(([, items]) => items.length > 0)
    .map(
      ([heading, items]) =>
        html`<section class="rows"><h2>${heading}</h2>${entries(items)}</section>`,
    );
}
