import { z } from 'zod';
import { assertMayBeAnybody } from '../auth/granting/may-open.ts';
import { boundBy, renewedBy, setterScopesOf } from '../auth/granting/setter-scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { type InputIssue, InvalidInputError } from '../errors.ts';
import { changesBetween, recordChange, recordEvent } from '../events/record.ts';
import type { IdentityProvider } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { notNull, parseInput } from '../input.ts';
import { faultsOfTarget } from '../outbound/target.ts';
import type { Context } from '../services.ts';
import { sealClientSecret } from './client.ts';
import { findDiscoveryFault } from './discovery-fault.ts';
import { defaultScopes, providerConflicts, providerFields } from './fields.ts';
import { providerRecord, providers, readProvider, rowOf, writeDomains } from './payload.ts';

/** What `createIdentityProvider` takes. */
export const createInput = z.object({
  ...providerFields,
  clientSecret: providerFields.clientSecret.nullish(),
  scopes: providerFields.scopes.nullish(),
  emailDomains: providerFields.emailDomains.nullish(),
  enabled: providerFields.enabled.nullish(),
});

/** The input of `createIdentityProvider`. */
export type CreateIdentityProviderInput = z.input<typeof createInput>;

/**
 * Creates an identity provider, and asks its issuer for its configuration. A wrong answer is a fault of the input; a
 * missing one is not, because the provider may just be out of reach. Raises `IdentityProvider.Created`.
 *
 * @throws {InvalidInputError}; {@link ConflictError} on `emailDomains`; {@link NotAllowedError} when a person who could
 *   sign in with it holds more than the caller.
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
      await assertMayBeAnybody(tx, context);
      await tx.identityProvider.create({
        data: {
          ...values,
          id,
          clientSecret:
            clientSecret == null ? null : sealClientSecret(context.cipher, id, clientSecret),
          scopes: scopes ?? defaultScopes,
          enabled: enabled ?? true,
          setterScopes: setterScopesOf(context),
          redirectUriState: 'OWN',
          createdAt: now,
          updatedAt: now,
        },
      });
      await writeDomains(tx, id, emailDomains ?? []);
      const provider = await readProvider(tx, id);
      const told = await recordEvent(
        tx,
        context,
        'IdentityProvider.Created',
        providerRecord(provider),
      );
      return told.with(rowOf(provider));
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
  redirectUriRegistered: notNull(z.boolean().refine(Boolean, 'can only be true')),
});

/** The input of `updateIdentityProvider`: an absent field stays as it is; null clears it. */
export type UpdateIdentityProviderInput = z.input<typeof updateInput>;

const secretOfIssuer = {
  code: 'REQUIRED',
  message: 'must be given, or null: the kept secret is for the issuer before',
} as const;

/**
 * Changes an identity provider. A new issuer does not get the client secret of the old one. Linked identities stay:
 * they belong to the issuer that they were linked under. Raises `IdentityProvider.Data.Updated` if something changed,
 * which says of a new client secret only that there is one.
 *
 * @throws {InvalidInputError} {@link NotFoundError}; {@link ConflictError} on `emailDomains`; {@link NotAllowedError}
 *   when a person who could sign in with it holds more than the caller.
 */
export async function updateIdentityProvider(
  context: Context,
  input: UpdateIdentityProviderInput,
): Promise<IdentityProvider> {
  const { id, emailDomains, clientSecret, scopes, redirectUriRegistered, ...patch } = parseInput(
    updateInput,
    input,
    await faultsOfIssuer(context, input.issuer),
  );
  return refuseConflict(providerConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'IdentityProvider', id);
      await assertMayBeAnybody(tx, context);
      const before = await readProvider(tx, id);
      const isElsewhere = patch.issuer !== undefined && patch.issuer !== before.issuer;
      // The new issuer would learn the secret of the old one.
      if (isElsewhere && before.clientSecret !== null && clientSecret === undefined)
        throw new InvalidInputError([{ ...secretOfIssuer, path: ['clientSecret'] }]);
      // A new client never had the redirect URI that providers shared.
      const isNewClient =
        isElsewhere || (patch.clientId !== undefined && patch.clientId !== before.clientId);
      // Whoever sets the issuer answers for it, not whoever renames the provider.
      const setterScopes =
        patch.issuer === undefined
          ? boundBy(context, before.setterScopes)
          : renewedBy(context, before.setterScopes);
      const after = {
        ...patch,
        ...(redirectUriRegistered || isNewClient ? { redirectUriState: 'OWN' as const } : {}),
        emailDomains: emailDomains === null ? [] : emailDomains?.sort(),
        scopes: scopes === null ? defaultScopes : scopes,
        clientSecret:
          clientSecret == null ? clientSecret : sealClientSecret(context.cipher, id, clientSecret),
        setterScopes,
      };
      const secretChange =
        clientSecret == null
          ? undefined
          : { hasClientSecret: { from: before.clientSecret !== null, to: true } };
      const setterChange = changesBetween({ setterScopes: before.setterScopes }, { setterScopes });
      const unshown =
        secretChange || setterChange ? { ...secretChange, ...setterChange } : undefined;
      const told = await recordChange(tx, context, providers, before, after, unshown);
      return told.with(rowOf(told.result));
    }),
  );
}

async function faultsOfIssuer(
  context: Context,
  issuer: string | null | undefined,
): Promise<InputIssue[]> {
  // The schema reports a malformed issuer.
  if (issuer == null || !providerFields.issuer.safeParse(issuer).success) return [];
  const { config, resolveHost } = context;
  const guard = { allowPrivate: config.allowPrivateWebhooks, resolveHost };
  const faults = await faultsOfTarget(issuer.trim(), ['issuer'], guard);
  if (faults.length > 0) return faults;
  const fault = await findDiscoveryFault(context, issuer.trim());
  return fault === undefined ? [] : [{ path: ['issuer'], message: fault }];
}
