import {
  type Client,
  type Consent,
  type ConsentRequest,
  isEmpty,
  readAsked,
} from '../../oidc/consent/asked.ts';
import { readExchangers } from '../../oidc/consent/exchangers.ts';
import { oidcScopes } from '../../oidc/provider/accounts.ts';
import type { Interaction } from '../interaction.ts';

/** The person's consent, if the application needs it and does not have it. */
export const consentGate = async (
  { client }: { readonly client: Client },
  interaction: Interaction,
): Promise<readonly 'CONSENT'[]> => ((await findConsent(client, interaction)) ? ['CONSENT'] : []);

/** What the person of an interaction is asked to allow; null if nothing is asked. */
export async function findConsent(
  client: Client,
  interaction: Interaction,
): Promise<Consent | null> {
  const request = consentRequestOf(interaction);
  const asked = request && (await readAsked(client, request));
  if (!asked) return null;
  if (asked.isAskedAgain && interaction.consentedAt === null) return asked.all;
  return isEmpty(asked.missing) && !asked.isIntroduced ? null : asked.missing;
}

/** The names of those who may exchange what the application gets, by {@link readExchangers}. */
export async function findExchangers(client: Client, interaction: Interaction): Promise<string[]> {
  const request = consentRequestOf(interaction);
  return request ? readExchangers(client, request) : [];
}

/** The request that the person of an interaction may have to allow; null if the person is unknown, or has no browser. */
export function consentRequestOf({
  userId,
  restartUrl,
  application,
}: Interaction): ConsentRequest | null {
  if (userId === null || restartUrl === null) return null;
  const parameters = new URL(restartUrl).searchParams;
  const listOf = (name: string) => (parameters.get(name) ?? '').split(' ').filter(Boolean);
  const scopes = listOf('scope');
  return {
    userId,
    application,
    scopes,
    oidcScopes: oidcScopes.filter((scope) => scopes.includes(scope)),
    resources: parameters.getAll('resource'),
    redirectUri: parameters.get('redirect_uri') ?? '',
    redirectUris: application.redirectUris,
    prompts: listOf('prompt'),
  };
}
