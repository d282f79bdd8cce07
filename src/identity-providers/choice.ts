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
 * Whether the people of an address sign in at their company's identity provider. The answer depends on the domain alone,
 * and tells nothing of an account.
 *
 * @param newcomer Who has come from a provider already: from the one for the address, they verify the address here.
 */
export async function isElsewhere(
  client: Client,
  address: string,
  newcomer: { readonly identityProviderId: string } | null = null,
): Promise<boolean> {
  const provider = await findProviderOfAddress(client, address);
  return provider !== null && provider.id !== newcomer?.identityProviderId;
}

/** The people of an address sign in at an identity provider, which is chosen by the address. */
export class ElsewhereError extends NotAllowedError {
  readonly address: string;

  constructor(address: string) {
    super('People of this address sign in at an identity provider.');
    this.address = address;
  }
}

/**
 * Checks {@link isElsewhere}.
 *
 * @throws {ElsewhereError}
 */
export async function assertNotElsewhere(
  ...question: Parameters<typeof isElsewhere>
): Promise<void> {
  if (await isElsewhere(...question)) throw new ElsewhereError(question[1]);
}

/**
 * Whether an identity provider is still enabled. It stays so until the transaction ends: a person who is on the way must
 * not come in by one that was closed meanwhile.
 */
export async function holdEnabled(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM "IdentityProvider" WHERE "id" = ${id} AND "enabled" FOR SHARE`;
  return rows.length > 0;
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
 * domains is believed about none, and a SOCIAL one not about those of companies: who has left a company may still hold
 * an account with its address elsewhere.
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
  if (domains.length === 0) return kind === 'SOCIAL' && !(await isElsewhere(client, email));
  return domains.some(({ domain }) => domain === domainOf(email));
}
