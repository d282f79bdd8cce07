import { NotAllowedError, NotFoundError } from '../../errors.ts';
import type { FederationError } from '../federation/failure.ts';
import { finishFederation } from '../federation/finish.ts';
import { completeProfile } from '../federation/newcomer.ts';
import { startFederation } from '../federation/start.ts';
import { changeInteraction, updateInteraction } from '../interaction.ts';
import { profilePage } from '../pages/federation.ts';
import { missingForSignUp, newcomerOf } from '../steps.ts';
import type { Answer, FormPage } from './form-page.ts';
import { frameOf, type Visit } from './visit.ts';

/** Sends a browser to an identity provider; to the sign-in page, with the reason, if that one cannot be used. */
export async function leaveFor(
  visit: Visit,
  request: Parameters<typeof startFederation>[2],
): Promise<Answer> {
  const { context, access } = visit;
  try {
    const { url } = await startFederation(context, access, request);
    return { leaveTo: url };
  } catch (error) {
    if (!(error instanceof NotAllowedError || error instanceof NotFoundError)) throw error;
    return explain(visit, 'federation_failed');
  }
}

/** Tells the person on the sign-in page why they cannot come in by an identity provider. */
async function explain({ context, access }: Visit, error: FederationError): Promise<Answer> {
  await changeInteraction(context, access, async (tx, interaction) => {
    // Another tab was faster.
    if (interaction.userId !== null) return interaction;
    await tx.newcomer.deleteMany({ where: { interactionId: interaction.id } });
    return updateInteraction(tx, interaction, { error });
  });
  return { goTo: '?sign-in' };
}

/** The buttons of identity providers lead here, and the callback with what a provider answered. */
export const federationForm: FormPage = {
  path: '/federation',
  wrong: (t) => t.problem.NOT_OFFERED,
  async show({ context, access }, { query }) {
    if (!query.has('state')) return { goTo: '?sign-in' };
    const interaction = await finishFederation(context, access, query);
    if (interaction.userId !== null) return 'signed-in';
    return { goTo: newcomerOf(interaction) && !interaction.error ? '/profile' : '?sign-in' };
  },
  submit: (visit, { form }) => leaveFor(visit, { identityProviderId: form.get('provider') ?? '' }),
};

/** Asks for what an identity provider did not tell. */
export const profileForm: FormPage = {
  path: '/profile',
  wrong: (t) => t.problem.CHECK,
  show(visit, { form, problem }) {
    const { interaction, settings } = visit;
    const newcomer = newcomerOf(interaction);
    if (!newcomer) return { goTo: '?sign-in' };
    const missing = missingForSignUp(interaction, settings);
    if (missing.some((field) => field !== 'USERNAME')) return { goTo: '/register' };
    const needsUsername = missing.includes('USERNAME');
    return {
      markup: profilePage({
        ...frameOf(visit, '/profile', problem?.text),
        asksUsername: needsUsername || settings.signUpIdentifiers.includes('USERNAME'),
        needsUsername,
        username: form.get('username') ?? '',
        usernameFaults: problem?.faults?.['username'] ?? [],
        address: newcomer.isEmailVerified && !interaction.error ? newcomer.email : null,
      }),
    };
  },
  async submit(visit, { form }) {
    const { context, access, settings } = visit;
    try {
      await completeProfile(context, access, { username: form.get('username') || null });
    } catch (error) {
      if (!(error instanceof NotAllowedError)) throw error;
      // The provider, or registration, was closed since the page was shown.
      return explain(visit, settings.signUpEnabled ? 'federation_failed' : 'sign_up_closed');
    }
    return 'signed-in';
  },
};
