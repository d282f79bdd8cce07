import { z } from 'zod';
import { assertMayProveWho } from '../auth/granting.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { type InputIssue, InvalidInputError } from '../errors.ts';
import type { IdentityProvider } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { notNull, parseInput } from '../input.ts';
import { faultsOfTarget } from '../outbound/target.ts';
import type { Context } from '../services.ts';
import { sealClientSecret } from './client.ts';
import { findDiscoveryFault } from './discovery-fault.ts';
import { defaultScopes, providerConflicts, providerFields } from './fields.ts';

const createInput = z.object({
  ...providerFields,
  clientSecret: providerFields.clientSecret.nullish(),
  scopes: providerFields.scopes.nullish(),
  emailDomains: providerFields.emailDomains.nullish(),
  enabled: providerFields.enabled.nullish(),
});

/** The input of `createIdentityProvider`. */
export type CreateIdentityProviderInput = z.input<typeof createInput>;

/**
 * Creates an identity provider. Its issuer is asked for its configuration: a wrong answer is a fault of the input, no
 * answer is not, since the provider may only be out of reach. Raises no event.
 *
 * @throws {InvalidInputError}; {@link ConflictError} on `emailDomains`; {@link NotAllowedError} when a person who could
 *   sign in by it holds more than the caller.
 */
export async function createIdentityProvider(
  context: Context,
  input: CreateIdentityProviderInput,
): Promise<IdentityProvider> {
  const { emailDomains, clientSecret, enabled, scopes, ...values } = parseInput(
    createInput,
    input,
    await faultsOfIssuer(context, input.issuer),
  );
  const id = newId('IdentityProvider');
  const now = context.clock.now();
  return refuseConflict(providerConflicts, () =>
    transaction(context.database, async (tx) => {
      await assertMayProveWho(tx, context);
      const provider = await tx.identityProvider.create({
        data: {
          ...values,
          id,
          clientSecret:
            clientSecret == null ? null : sealClientSecret(context.cipher, id, clientSecret),
          scopes: scopes ?? defaultScopes,
          enabled: enabled ?? true,
          createdAt: now,
          updatedAt: now,
        },
      });
      await writeDomains(tx, id, emailDomains ?? []);
      return provider;
    }),
  );
}

const updateInput = z.object({
  id: z.string(),
  name: notNull(providerFields.name),
  kind: notNull(providerFields.kind),
  issuer: notNull(providerFields.issuer),
  clientId: notNull(providerFields.clientId),
  clientSecret: providerFields.clientSecret.nullish(),
  scopes: providerFields.scopes.nullish(),
  emailDomains: providerFields.emailDomains.nullish(),
  enabled: notNull(providerFields.enabled),
});

/** The input of `updateIdentityProvider`: an absent field stays as it is; null clears it. */
export type UpdateIdentityProviderInput = z.input<typeof updateInput>;

const secretOfIssuer = {
  code: 'REQUIRED',
  message: 'must be given, or null: the kept secret is for the issuer before',
} as const;

/**
 * Changes an identity provider. A new issuer does not get the client secret of the one before. Identities that are
 * linked stay: they belong to the issuer under which they were linked. Raises no event.
 *
 * @throws {InvalidInputError} {@link NotFoundError}; {@link ConflictError} on `emailDomains`; {@link NotAllowedError}
 *   when a person who could sign in by it holds more than the caller.
 */
export async function updateIdentityProvider(
  context: Context,
  input: UpdateIdentityProviderInput,
): Promise<IdentityProvider> {
  const { id, emailDomains, clientSecret, scopes, ...patch } = parseInput(
    updateInput,
    input,
    await faultsOfIssuer(context, input.issuer),
  );
  return refuseConflict(providerConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'IdentityProvider', id);
      await assertMayProveWho(tx, context);
      const before = await tx.identityProvider.findUniqueOrThrow({ where: { id } });
      const isElsewhere = patch.issuer !== undefined && patch.issuer !== before.issuer;
      // The new issuer would learn the secret of the old one.
      if (isElsewhere && before.clientSecret !== null && clientSecret === undefined)
        throw new InvalidInputError([{ ...secretOfIssuer, path: ['clientSecret'] }]);
      if (emailDomains !== undefined) await writeDomains(tx, id, emailDomains ?? []);
      return tx.identityProvider.update({
        where: { id },
        data: {
          ...patch,
          scopes: scopes === null ? defaultScopes : scopes,
          clientSecret:
            clientSecret == null
              ? clientSecret
              : sealClientSecret(context.cipher, id, clientSecret),
          updatedAt: context.clock.now(),
        },
      });
    }),
  );
}

async function faultsOfIssuer(
  context: Context,
  issuer: string | null | undefined,
): Promise<InputIssue[]> {
  // A malformed one is told by its schema.
  if (issuer == null || !providerFields.issuer.safeParse(issuer).success) return [];
  const { config, resolveHost } = context;
  const guard = { allowPrivate: config.allowPrivateWebhooks, resolveHost };
  const faults = await faultsOfTarget(issuer.trim(), ['issuer'], guard);
  if (faults.length > 0) return faults;
  const fault = await findDiscoveryFault(context, issuer.trim());
  return fault === undefined ? [] : [{ path: ['issuer'], message: fault }];
}

async function writeDomains(
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
