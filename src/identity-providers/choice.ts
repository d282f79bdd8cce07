import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import type { IdentityProvider, PrismaClient } from '../generated/prisma/client.ts';

type Client = Transaction | PrismaClient;

/** The domain of an e-mail address, in lower case. */
export const domainOf = (email: string): string =>
  email
    .slice(email.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase();

/** The enabled ENTERPRISE provider for the people of an address's domain; null if there is none. */
export async function findProviderOfAddress(
  client: Client,
  email: string,
): Promise<IdentityProvider | null> {
  const domain = domainOf(email);
  // Domains hold no other characters, and PostgreSQL's text cannot hold all of them.
  if (!email.includes('@') || !/^[a-z0-9.-]{1,253}$/.test(domain)) return null;
  return client.identityProvider.findFirst({
    where: { kind: 'ENTERPRISE', enabled: true, emailDomains: { some: { domain } } },
  });
}

/**
 * Checks that the people of an address do not sign in at their company's identity provider. The answer depends on the
 * domain alone, and tells nothing of an account.
 *
 * @throws {NotAllowedError}
 */
export async function assertNotElsewhere(client: Client, address: string): Promise<void> {
  if (await findProviderOfAddress(client, address))
    throw new NotAllowedError('People of this address sign in at an identity provider.');
}

/** The enabled SOCIAL providers, by name: anybody can choose one of them. */
export const listSocialProviders = (
  client: Client,
): Promise<Pick<IdentityProvider, 'id' | 'name'>[]> =>
  client.identityProvider.findMany({
    where: { kind: 'SOCIAL', enabled: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    select: { id: true, name: true },
    take: 50,
  });

/** Whether an ENTERPRISE provider is enabled, so that people name their address first. */
export const hasEnterpriseProviders = async (client: Client): Promise<boolean> =>
  (await client.identityProvider.findFirst({
    where: { kind: 'ENTERPRISE', enabled: true, emailDomains: { some: {} } },
    select: { id: true },
  })) !== null;

/**
 * Whether a provider is believed about an address that it says it has verified. One with e-mail domains is believed
 * about these alone: a customer's provider must not vouch for the addresses of others. An ENTERPRISE provider without
 * domains is believed about none.
 */
export async function isBelievedAbout(
  client: Client,
  { id, kind }: Pick<IdentityProvider, 'id' | 'kind'>,
  email: string,
): Promise<boolean> {
  const domains = await client.identityProviderEmailDomain.findMany({
    where: { identityProviderId: id },
    select: { domain: true },
  });
  if (domains.length === 0) return kind === 'SOCIAL';
  return domains.some(({ domain }) => domain === domainOf(email));
}
