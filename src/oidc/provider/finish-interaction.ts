import type Provider from 'oidc-provider';
import { toNumericDate } from '../../clock.ts';
import type { OwnBrowser } from '../../users/sign-out.ts';
import { acrOf } from './assurance.ts';
import { storedId } from './storage/adapter.ts';

/** Set in an interaction's result if the account was created in it. */
export const registrationResult = 'registration';

/** Who has signed in, and how. */
export interface Login {
  readonly userId: string;
  readonly authenticatedAt: Date;
  /** Authentication method references (RFC 8176). */
  readonly methods: readonly string[];
  readonly isRegistration: boolean;
}

/**
 * Gives the provider the result of its interaction. If called twice, the last result counts.
 *
 * @returns Where the browser continues; undefined if the interaction is over.
 */
export async function finishInteraction(
  provider: Provider,
  uid: string,
  { userId, authenticatedAt, methods, isRegistration }: Login,
): Promise<string | undefined> {
  const interaction = await provider.Interaction.find(uid);
  if (!interaction) return undefined;
  interaction.result = {
    ...interaction.lastSubmission,
    login: {
      accountId: userId,
      ts: toNumericDate(authenticatedAt),
      amr: [...methods],
      acr: acrOf(methods),
    },
    [registrationResult]: isRegistration,
  };
  await interaction.persist();
  return interaction.returnTo;
}

/** Tells the provider that the person cancelled the sign-in; otherwise like {@link finishInteraction}. */
export async function cancelInteraction(
  provider: Provider,
  uid: string,
): Promise<string | undefined> {
  const interaction = await provider.Interaction.find(uid);
  if (!interaction) return undefined;
  interaction.result = {
    error: 'access_denied',
    error_description: 'the sign-in was cancelled',
  };
  await interaction.persist();
  return interaction.returnTo;
}

/** The records of the browser in an interaction. They are kept when all other sessions of the user end. */
export async function browserOf(provider: Provider, uid: string): Promise<OwnBrowser> {
  const interaction = await provider.Interaction.find(uid);
  return { interactionId: storedId(uid), sessionUid: interaction?.session?.uid ?? '' };
}
