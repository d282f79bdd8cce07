import type { SetterScopes } from '../auth/granting/setter-scopes.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import type { IdentityProvider, PrismaClient } from '../generated/prisma/client.ts';
import { domainOf, readDomain } from '../text/address.ts';

type Client = Transaction | PrismaClient;

/** The enabled ENTERPRISE provider for the people of an address's domain; null if there is none. */
export async function findProviderOfAddress(
  client: Client,
  email: string,
): Promise<IdentityProvider | null> {
  const domain = readDomain(domainOf(email));
  if (!email.includes('@') || domain === null) return null;
  return client.identityProvider.findFirst({
    where: { kind: 'ENTERPRISE', enabled: true, emailDomains: { some: { domain } } },
  });
}

/**
 * Whether the people of an address sign in at their company's identity provider. The answer depends on the domain only,
 * so it reveals nothing about an account.
 *
 * @param newcomer A person who came back from a provider. Whoever came from the provider of the address may verify the
 *   address here.
 */
export async function isElsewhere(
  client: Client,
  address: string,
  newcomer: { readonly identityProviderId: string } | null = null,
): Promise<boolean> {
  const provider = await findProviderOfAddress(client, address);
  return provider !== null && provider.id !== newcomer?.identityProviderId;
}

/** People with this address sign in only at an identity provider, to which the address leads. */
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
 * Checks that an identity provider is still enabled and still has the issuer that a person came from, and keeps it so
 * until the transaction ends. A person on the way must not come in through a provider that was closed or replaced
 * meanwhile.
 *
 * @returns What the setter of the provider held, for {@link mayProve}; null if it is disabled, of another issuer, or
 *   gone.
 */
export async function holdEnabled(
  tx: Transaction,
  { identityProviderId, issuer }: { readonly identityProviderId: string; readonly issuer: string },
): Promise<SetterScopes | null> {
  const [found] = await tx.$queryRaw<{ setterScopes: string[] }[]>`
    SELECT "setterScopes" FROM "IdentityProvider"
     WHERE "id" = ${identityProviderId} AND "issuer" = ${issuer} AND "enabled" FOR SHARE`;
  return found?.setterScopes ?? null;
}

/** The enabled SOCIAL providers, by name: anyone can choose one of them. */
export const listSocialProviders = (
  client: Client,
): Promise<Pick<IdentityProvider, 'id' | 'name' | 'issuer'>[]> =>
  client.identityProvider.findMany({
    where: { kind: 'SOCIAL', enabled: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    select: { id: true, name: true, issuer: true },
    take: 50,
  });

/** Whether an ENTERPRISE provider is enabled, so that people enter their address first. */
export const hasEnterpriseProviders = async (client: Client): Promise<boolean> =>
  (await client.identityProvider.findFirst({
    where: { kind: 'ENTERPRISE', enabled: true, emailDomains: { some: {} } },
    select: { id: true },
  })) !== null;

/**
 * Whether a provider is believed when it says that it has verified an address:
 * - With e-mail domains, it is believed about these only: a customer's provider must not vouch for the addresses of
 *   others.
 * - An ENTERPRISE provider without domains is believed about no address.
 * - A SOCIAL provider without domains is not believed about the addresses of companies: a person who left a company may
 *   still have an account with its address elsewhere.
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
