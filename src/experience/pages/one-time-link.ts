import { html } from '../../markup.ts';
import { hintedEmail, openOneTimeToken } from '../../oidc/provider/sign-in-parameters.ts';
import { findUserByAddress } from '../../proving/codes.ts';
import { withoutSpaceAround } from '../../text/typed.ts';
import { addressOfToken } from '../../users/one-time-tokens/one-time-token.ts';
import { ways } from '../../web/entries.ts';
import { field, form, submit } from '../../web/form.ts';
import { formAt } from '../../web/visit.ts';
import { redeemOneTimeToken } from '../one-time-link.ts';
import { cancel } from '../site/controls.ts';
import { leadOn } from '../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../site/visit.ts';
import { verified } from '../steps.ts';

const path = '/one-time-link';

/**
 * Redeems the one-time token that the application sent with the request. It asks for a click, so that scanners, which
 * only fetch the link, do not use the token up.
 */
export const oneTimeLinkPage: InteractionPage = {
  path,
  wrong: ({ texts: t }) => t.wrong.LINK,
  show(visit, { form: sent, problem }) {
    const { texts: t, base, interaction } = visit;
    if (!hasOneTimeToken(visit)) return { goTo: '?sign-in' };
    if (verified(visit.context, interaction, 'REGISTER').length > 0) return { goTo: '/register' };
    const email =
      hintedEmail(visit.parameters) === undefined &&
      field({
        name: 'email',
        label: t.email,
        type: 'email',
        autocomplete: 'email',
        value: sent.get('email') ?? '',
        hint: t.linkEmailHint,
        autofocus: problem === undefined,
        isProblem: problem !== undefined,
      });
    return {
      heading: t.linkTitle,
      lead: t.toContinueTo(interaction.application.name),
      body: html`${!problem && html`<p>${t.linkLead}</p>`}${form(
        formAt(visit, path),
        html`${email}${submit(t.continue)}`,
      )}${ways([{ url: `${base}?sign-in`, text: t.anotherWay }])}${cancel(visit)}`,
    };
  },
  async submit(visit, { form: sent }) {
    const { context, access, parameters, interaction } = visit;
    const email = hintedEmail(parameters) ?? sent.get('email') ?? '';
    const token = openOneTimeToken(context, parameters) ?? '';
    if (interaction.restartUrl !== null && (await wasUsedHere(visit, email, token)))
      return { leaveTo: interaction.restartUrl, standsSeconds: null };
    const { userId } = await redeemOneTimeToken(context, access, { email, token });
    // The address is verified now, and no account has it yet.
    return userId === null ? { goTo: '/register' } : leadOn(visit);
  },
};

/** Whether the link is used up, and the browser is signed in as its person: it was opened in two tabs. */
async function wasUsedHere(
  { context, findSignedIn }: InteractionVisit,
  email: string,
  token: string,
): Promise<boolean> {
  if ((await addressOfToken(context, token)) !== null) return false;
  const signedIn = await findSignedIn();
  if (signedIn === undefined) return false;
  const address = { type: 'EMAIL' as const, recipient: withoutSpaceAround(email) };
  return (await findUserByAddress(context.database.prisma, address))?.id === signedIn;
}

/** Whether the application sent a one-time token with the request. */
export const hasOneTimeToken = ({ parameters }: InteractionVisit): boolean =>
  typeof parameters['one_time_token'] === 'string' && parameters['one_time_token'] !== '';
