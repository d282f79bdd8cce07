import type Provider from 'oidc-provider';
import { toNumericDate } from '../../clock.ts';
import type { OwnBrowser } from '../../users/sign-out.ts';
import { acrOf } from './assurance.ts';
import { storedId } from './storage/stored-id.ts';

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

/** Set in an interaction's result if an earlier interaction of the same request has recorded the sign-in. */
export const recordedResult = 'recorded';

/** The result of an interaction. */
export interface InteractionResult {
  /** Null if the person had a session, and was only asked for consent. */
  readonly login: Login | null;
  readonly hasConsented: boolean;
}

/**
 * Gives the provider the result of its interaction. If called twice, the last result counts.
 *
 * @returns Where the browser continues; undefined if the interaction is over.
 */
export async function finishInteraction(
  provider: Provider,
  uid: string,
  { login, hasConsented }: InteractionResult,
): Promise<string | undefined> {
  const interaction = await provider.Interaction.find(uid);
  if (!interaction) return undefined;
  interaction.result = {
    ...interaction.lastSubmission,
    ...(login ? loginResult(login) : { [recordedResult]: true }),
    ...(hasConsented ? { consent: {} } : {}),
  };
  await interaction.persist();
  return interaction.returnTo;
}

const loginResult = ({ userId, authenticatedAt, methods, isRegistration }: Login) => ({
  login: {
    accountId: userId,
    ts: toNumericDate(authenticatedAt),
    amr: [...methods],
    acr: acrOf(methods),
  },
  [registrationResult]: isRegistration,
  // An earlier interaction of the same request may have set it for another person.
  [recordedResult]: false,
});

/** Tells the provider that the person refused; otherwise like {@link finishInteraction}. */
export async function cancelInteraction(
  provider: Provider,
  uid: string,
  description = 'the sign-in was cancelled',
): Promise<string | undefined> {
  const interaction = await provider.Interaction.find(uid);
  if (!interaction) return undefined;
  interaction.result = {
    error: 'access_denied',
    error_description: description,
  };
  await interaction.persist();
  return interaction.returnTo;
}

/** The records of the browser in an interaction. They are kept when all other sessions of the user end. */
export async function browserOf(provider: Provider, uid: string): Promise<OwnBrowser> {
  const interaction = await provider.Interaction.find(uid);
  return { interactionId: storedId(uid), sessionUid: interaction?.session?.uid ?? '' };
}
