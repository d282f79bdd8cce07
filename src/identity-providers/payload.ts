import type { Transaction } from '../db/transaction.ts';
import type { RecordData } from '../events/catalogue/records.ts';
import type { RecordKind } from '../events/record.ts';
import type { IdentityProvider } from '../generated/prisma/client.ts';

/** An identity provider with its e-mail domains, sorted. */
interface ProviderWithDomains extends IdentityProvider {
  readonly emailDomains: readonly string[];
}

/** An identity provider as events show it. */
export const providerRecord = (provider: ProviderWithDomains): RecordData<'IdentityProvider'> => ({
  id: provider.id,
  name: provider.name,
  kind: provider.kind,
  issuer: provider.issuer,
  clientId: provider.clientId,
  hasClientSecret: provider.clientSecret !== null,
  scopes: provider.scopes,
  enabled: provider.enabled,
  emailDomains: provider.emailDomains,
  redirectUriState: provider.redirectUriState,
  createdAt: provider.createdAt.toISOString(),
  updatedAt: provider.updatedAt.toISOString(),
});

/** Identity providers, whose updates are events. */
export const providers: RecordKind<'IdentityProvider.Data.Updated', ProviderWithDomains> = {
  updated: 'IdentityProvider.Data.Updated',
  shown: providerRecord,
  async write(tx, id, { emailDomains, ...data }) {
    if (emailDomains) await writeDomains(tx, id, emailDomains);
    await tx.identityProvider.update({ where: { id }, data });
    return readProvider(tx, id);
  },
};

/** Reads an identity provider, which must exist, with its domains. */
export async function readProvider(tx: Transaction, id: string): Promise<ProviderWithDomains> {
  const { emailDomains, ...row } = await tx.identityProvider.findUniqueOrThrow({
    where: { id },
    include: { emailDomains: true },
  });
  return { ...row, emailDomains: emailDomains.map(({ domain }) => domain).sort() };
}

/** The row alone, for GraphQL, which reads the domains itself. */
export const rowOf = ({ emailDomains: _, ...row }: ProviderWithDomains): IdentityProvider => row;

/** Sets the e-mail domains of a locked identity provider. */
export async function writeDomains(
  tx: Transaction,
  identityProviderId: string,
  domains: readonly string[],
): Promise<void> {
  await tx.identityProviderEmailDomain.deleteMany({
    where: { identityProviderId, domain: { notIn: [...domains] } },
  });
  const kept = await tx.identityProviderEmailDomain.findMany({
    where: { identityProviderId },
    select: { domain: true },
  });
  const known = new Set(kept.map(({ domain }) => domain));
  // In one order, so that two requests with the same domains do not wait for each other.
  const added = domains.filter((domain) => !known.has(domain)).sort();
  await tx.identityProviderEmailDomain.createMany({
    data: added.map((domain) => ({ domain, identityProviderId })),
  });
}
