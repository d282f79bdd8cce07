import { lockUser } from '../../db/lock.ts';
import { untold } from '../../db/told.ts';
import { brokenConstraint, transaction } from '../../db/transaction.ts';
import { holdEnabled } from '../../identity-providers/choice.ts';
import { beginFederation } from '../../identity-providers/federation.ts';
import { isKnownThereAsAnother, linkIdentity } from '../../identity-providers/identities.ts';
import type { Language } from '../../languages.ts';
import type { Call, Services } from '../../services.ts';
import { arrivalOf } from './admit.ts';
import { type FederationError, reportDisabled } from './failure.ts';
import { endOrExplain } from './finish.ts';
import { hasAddress, verifiedThere } from './newcomer.ts';
import { beginOrRefuse, getProviderById } from './start.ts';

/** The first part of `state` where a user who has signed in links an identity. */
export const viewerPrefix = 'a';

/**
 * The first part of `state` where a user proves at a provider who they are. They come back to the pages of the account.
 */
export const proofPrefix = 'p';

/** A user who has signed in, and the application through which they act. */
export interface Linker {
  readonly userId: string;
  readonly clientId: string;
}

/**
 * Sends a user who has signed in to an identity provider, to link an identity to their account. They come back in a
 * browser in which they have to be signed in: see {@link finishViewerFederation}.
 *
 * @returns The URL to open in the user's browser.
 * @throws {NotFoundError} of the provider; {@link NotAllowedError} when it does not answer.
 */
export async function startViewerFederation(
  services: Services,
  linker: Linker,
  { identityProviderId }: { identityProviderId: string },
): Promise<{ url: string }> {
  const provider = await getProviderById(services, identityProviderId);
  const url = await beginOrRefuse(services, provider, () =>
    beginFederation(services, provider, linker, { prefix: viewerPrefix }),
  );
  return { url };
}

/** The result of linking an identity: an error, or the name of the provider. */
export type LinkResult =
  | { readonly error: FederationError | 'identity_taken' }
  | { readonly providerName: string };

/**
 * Links the identity with which a user came back. Raises `User.Data.Updated`,
 * `User.Credential.Updated`, and `Organization.Membership.Updated` for each organization of the provider. The account's
 * address is verified if the provider has verified it.
 *
 * @param linker.userId The user whom the browser's session proves. Somebody else may have sent them the link, and must
 *   not get their identity.
 */
export async function finishViewerFederation(
  services: Services & Call,
  { userId, language }: { readonly userId: string; readonly language?: Language | undefined },
  response: URLSearchParams,
): Promise<LinkResult> {
  const returned = await endOrExplain(services, { userId }, response);
  if (typeof returned === 'string') return { error: returned };
  const { provider, claims, clientId } = returned;
  const { issuer, subject, email, isEmailVerified } = claims;
  const actor = { type: 'USER', id: userId, ...(clientId === null ? {} : { clientId }) } as const;
  const identity = { identityProviderId: provider.id, issuer, subject, email, isEmailVerified };
  try {
    return await transaction<LinkResult>(services.database, async (tx) => {
      const setterScopes = await holdEnabled(tx, identity);
      if (!setterScopes) return untold({ error: reportDisabled(services, identity) });
      const user = await lockUser(tx, userId);
      if (user.isSuspended) return untold({ error: 'account_unavailable' });
      const known = await tx.userIdentity.findUnique({
        where: { issuer_subject: { issuer, subject } },
        select: { userId: true },
      });
      if (known) {
        return untold(
          known.userId === userId ? { providerName: provider.name } : { error: 'identity_taken' },
        );
      }
      if (
        isEmailVerified &&
        hasAddress(claims, user) &&
        (await isKnownThereAsAnother(tx, userId, identity))
      )
        return untold({ error: 'address_reassigned' });
      const person = { ...services, actor };
      const arrival = await arrivalOf(tx, provider, claims);
      const verified = await verifiedThere(tx, user, { arrival, setterScopes });
      const told = await linkIdentity(tx, person, userId, identity, { verified, language });
      return told.with({ providerName: provider.name });
    });
  } catch (error) {
    // A concurrent request linked it.
    if (brokenConstraint(error) !== 'UserIdentity_issuer_subject_key') throw error;
    return { error: 'identity_taken' };
  }
}
