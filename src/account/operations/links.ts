import { startViewerFederation as startFederation } from '../../experience/federation/viewer.ts';
import type { UserGrant } from '../../generated/prisma/client.ts';
import { deleteIdentityWithin } from '../../identity-providers/identities.ts';
import { revokeGrant } from '../../oidc/consent/operations.ts';
import type { ViewerContext } from '../../services.ts';
import { tellViewer } from './notice.ts';
import { assertProved, changeProved } from './proof.ts';
import { keepWayIn } from './ways-in.ts';

/**
 * Sends the person to an identity provider, to link an identity to the account. An identity is a way to sign in, so it
 * asks for a proof.
 *
 * @returns The URL to open in a browser in which the person is signed in.
 * @throws {NotFoundError} of the provider; {@link NotAllowedError} when it does not answer;
 *   {@link VerificationRequiredError}
 */
export async function startViewerFederation(
  context: ViewerContext,
  { identityProviderId }: { identityProviderId: string },
): Promise<{ url: string }> {
  await assertProved(context);
  const { userId, clientId } = context.viewer;
  return startFederation(context, { userId, clientId }, { identityProviderId });
}

/**
 * Removes one of the own identities. Raises `User.Data.Updated`, and tells the person by message.
 *
 * @throws {NotFoundError} {@link NotAllowedError} when it is the last way to sign in;
 *   {@link VerificationRequiredError}
 */
export async function deleteViewerIdentity(
  context: ViewerContext,
  { id: identityId }: { id: string },
): Promise<void> {
  await changeProved(context, async (tx, before) => {
    await keepWayIn(tx, context, () =>
      deleteIdentityWithin(tx, context, { userId: before.id, identityId }),
    );
    await tellViewer(tx, context, before, { template: 'IDENTITY_REMOVED' });
  });
}

/**
 * Takes back what the person has allowed an application. Raises no event.
 *
 * @returns The grant as it last was.
 * @throws {NotFoundError}
 */
export const revokeViewerGrant = (
  context: ViewerContext,
  { id: grantId }: { id: string },
): Promise<UserGrant> => revokeGrant(context, { userId: context.viewer.userId, grantId });
