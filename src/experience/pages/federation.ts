import { NotAllowedError, NotFoundError } from '../../errors.ts';
import { html } from '../../markup.ts';
import { doneNote, form, submit } from '../../web/form.ts';
import type { Answer } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import type { FederationError } from '../federation/failure.ts';
import { finishFederation } from '../federation/finish.ts';
import { completeProfile } from '../federation/newcomer.ts';
import { startFederation } from '../federation/start.ts';
import { moveInteraction, updateInteraction } from '../interaction.ts';
import { cancel, signInInstead, termsNote, usernameField } from '../site/controls.ts';
import { withWay } from '../site/last-way.ts';
import { leadOn } from '../site/next-page.ts';
import type { InteractionPage, InteractionVisit } from '../site/visit.ts';
import { missingForSignUp, newcomerOf } from '../steps.ts';

/** Sends a browser to an identity provider; to the sign-in page, with the reason, if that one cannot be used. */
export async function leaveFor(
  visit: InteractionVisit,
  request: Parameters<typeof startFederation>[2],
): Promise<Answer> {
  const { context, access } = visit;
  try {
    const { url } = await startFederation(context, access, request);
    // Where it leads can be used once.
    return { leaveTo: url, standsSeconds: null };
  } catch (error) {
    if (!(error instanceof NotAllowedError || error instanceof NotFoundError)) throw error;
    return explain(visit, 'federation_failed');
  }
}

/** Tells the person on the sign-in page why they cannot sign in by an identity provider. */
async function explain(
  { context, access }: InteractionVisit,
  error: FederationError,
): Promise<Answer> {
  await moveInteraction(context, access, async (tx, interaction) => {
    // Another tab was faster.
    if (interaction.userId !== null) return interaction;
    await tx.newcomer.deleteMany({ where: { interactionId: interaction.id } });
    return updateInteraction(tx, interaction, { error });
  });
  return { goTo: '?sign-in', standsSeconds: null };
}

/** Starts a federation for the buttons of identity providers, and ends it when the callback sends the browser here. */
export const federationPage: InteractionPage = {
  path: '/federation',
  wrong: ({ texts: t }) => t.problem.NOT_OFFERED,
  async show(visit, { query }) {
    if (!query.has('state')) return { goTo: '?sign-in' };
    const interaction = await finishFederation(visit.context, visit.access, query);
    if (interaction.userId !== null) return leadOn(visit);
    return { goTo: newcomerOf(interaction) && !interaction.error ? '/profile' : '?sign-in' };
  },
  async submit(visit, { form: sent }) {
    const identityProviderId = sent.get('provider') ?? '';
    return withWay(visit, await leaveFor(visit, { identityProviderId }), identityProviderId);
  },
};

/** Asks for what an identity provider did not tell. */
export const profilePage: InteractionPage = {
  path: '/profile',
  wrong: ({ texts: t }) => t.problem.CHECK,
  show(visit, request) {
    const { texts: t, interaction, settings } = visit;
    const newcomer = newcomerOf(interaction);
    if (!newcomer) return { goTo: '?sign-in' };
    const missing = missingForSignUp(visit.context, interaction, settings);
    if (missing.some((field) => field !== 'USERNAME')) return { goTo: '/register' };
    const needsUsername = missing.includes('USERNAME');
    const asksUsername = needsUsername || settings.signUpIdentifiers.includes('USERNAME');
    const address = newcomer.isEmailVerified && !interaction.error ? newcomer.email : null;
    return {
      heading: t.completeProfile,
      lead: t.toContinueTo(interaction.application.name),
      body: html`${!request.problem && address !== null && doneNote(t.verified(address))}${form(
        formAt(visit, '/profile'),
        html`${asksUsername && usernameField(visit, request, needsUsername)}${submit(t.createAccount)}`,
      )}${termsNote(visit)}${signInInstead(visit)}${cancel(visit)}`,
    };
  },
  async submit(visit, { form: sent }) {
    const { context, access, settings } = visit;
    try {
      await completeProfile(context, access, { username: sent.get('username') || null });
    } catch (error) {
      if (!(error instanceof NotAllowedError)) throw error;
      // The provider, or registration, was closed since the page was shown.
      return explain(visit, settings.signUpEnabled ? 'federation_failed' : 'sign_up_closed');
    }
    return leadOn(visit);
  },
};
