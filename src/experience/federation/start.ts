import { InvalidInputError, NotAllowedError, NotFoundError } from '../../errors.ts';
import type { IdentityProvider } from '../../generated/prisma/client.ts';
import { FederationFailure, type Freshness } from '../../identity-providers/authorization.ts';
import { findProviderOfAddress } from '../../identity-providers/choice.ts';
import { beginFederation } from '../../identity-providers/federation.ts';
import { idForQuery } from '../../ids.ts';
import { anyEmailAddress, parseInput } from '../../input.ts';
import type { InteractionAccess, Services, VisitContext } from '../../services.ts';
import {
  type Interaction,
  moveInteraction,
  readInteraction,
  updateInteraction,
} from '../interaction.ts';
import { reportFailedFederation, reportFailure } from './failure.ts';

/** The identity provider to go to: by its id, or by the domain of the person's e-mail address. */
export interface FederationRequest {
  readonly identityProviderId?: string | null | undefined;
  readonly email?: string | null | undefined;
}

/**
 * The first part of `state` for an interaction without a browser. It tells the callback where to continue; an
 * interaction in a browser uses its own id.
 */
export const headlessPrefix = 'h';

/**
 * Sends a person to an identity provider. The result of an earlier federation no longer counts.
 *
 * @returns The URL to open in the person's browser.
 * @throws {InvalidInputError} unless exactly one of the two is given; {@link NotFoundError} of the provider; {@link
 *   NotAllowedError} when no provider is for the address, or the provider does not answer; {@link
 *   InteractionExpiredError}
 */
export async function startFederation(
  context: VisitContext,
  access: InteractionAccess,
  request: FederationRequest,
): Promise<{ interaction: Interaction; url: string }> {
  await readInteraction(context, access);
  const { provider, email } = await chooseProvider(context, request);
  const interaction = await moveInteraction(context, access, async (tx, found) => {
    await tx.newcomer.deleteMany({ where: { interactionId: found.id } });
    const identifier = email === undefined ? {} : { identifier: email };
    return updateInteraction(tx, found, { error: null, ...identifier });
  });
  const url = await beginOrRefuse(context, provider, () =>
    beginFederation(
      context,
      provider,
      { interactionId: access.id },
      {
        prefix: access.uid ?? headlessPrefix,
        loginHint: email,
        ...freshnessOf(interaction),
        language: context.visitor.language,
      },
    ),
  ).catch((error: unknown) => {
    if (error instanceof NotAllowedError)
      reportFailedFederation(context, access, 'federation_failed');
    throw error;
  });
  return { interaction, url };
}

/** How recent a sign-in the application asks for: `prompt` and `max_age` (OpenID Connect Core §3.1.2.1). */
export function freshnessOf({ restartUrl }: Pick<Interaction, 'restartUrl'>): Freshness {
  if (restartUrl === null) return { isFresh: false };
  const { searchParams } = new URL(restartUrl);
  const maxAge = searchParams.get('max_age');
  return {
    isFresh: (searchParams.get('prompt') ?? '').split(' ').includes('login'),
    ...(maxAge === null ? {} : { maxAgeSeconds: Number(maxAge) }),
  };
}

/**
 * Begins a federation. If the provider does not answer, logs that and tells the person.
 *
 * @throws {NotAllowedError}
 */
export async function beginOrRefuse(
  services: Services,
  provider: IdentityProvider,
  begin: () => Promise<string>,
): Promise<string> {
  try {
    return await begin();
  } catch (error) {
    if (!(error instanceof FederationFailure)) throw error;
    reportFailure(services, error, provider.id);
    throw new NotAllowedError('The identity provider cannot be used now.');
  }
}

async function chooseProvider(
  context: VisitContext,
  { identityProviderId, email }: FederationRequest,
): Promise<{ provider: IdentityProvider; email?: string }> {
  if ((identityProviderId == null) === (email == null)) {
    const message = 'exactly one of identityProviderId and email must be given';
    throw new InvalidInputError([{ path: ['identityProviderId'], message }]);
  }
  if (identityProviderId != null)
    return { provider: await getProviderById(context, identityProviderId) };
  const address = parseInput(anyEmailAddress, email);
  const provider = await findProviderOfAddress(context.database.prisma, address);
  if (!provider) throw new NotAllowedError('No identity provider is for this address.');
  return { provider, email: address };
}

/**
 * An enabled identity provider.
 *
 * @throws {NotFoundError}
 */
export async function getProviderById(
  { database }: Pick<Services, 'database'>,
  id: string,
): Promise<IdentityProvider> {
  const known = idForQuery(id, 'IdentityProvider');
  const provider =
    known === null
      ? null
      : await database.prisma.identityProvider.findUnique({ where: { id: known, enabled: true } });
  if (!provider) throw new NotFoundError(id);
  return provider;
}
