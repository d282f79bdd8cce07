import { startViewerFederation as startFederation } from '../../experience/federation/viewer.ts';
import type { UserGrant } from '../../generated/prisma/client.ts';
import { deleteIdentityWithin } from '../../identity-providers/identities.ts';
import { revokeGrant } from '../../oidc/consent/operations.ts';
import type { ViewerContext } from '../../services.ts';
import { tellViewer } from './notice.ts';
import { assertProved, changeProved } from './proof.ts';
import { removeWayIn } from './ways-in.ts';

/**
 * Sends the person to an identity provider, to link an identity to the account. An identity is a way to sign in, so a
 * proof is needed.
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
 * Removes one of the person's identities. Raises `User.Data.Updated` and `User.Credential.Updated`, and tells the person
 * by message.
 *
 * @throws {NotFoundError} {@link NotAllowedError} when it is the last way to sign in;
 *   {@link VerificationRequiredError}
 */
export async function deleteViewerIdentity(
  context: ViewerContext,
  { id: identityId }: { id: string },
): Promise<void> {
  await changeProved(context, async (tx, before) => {
    const told = await removeWayIn(tx, context, () =>
      deleteIdentityWithin(tx, context, { userId: before.id, identityId }),
    );
    await tellViewer(tx, context, before, { template: 'IDENTITY_REMOVED' });
    return told.with(undefined);
  });
}

/**
 * Revokes what the person has allowed an application. Raises the events of {@link revokeGrant}.
 *
 * @returns The grant in its last state.
 * @throws {NotFoundError}
 */
export const revokeViewerGrant = (
  context: ViewerContext,
  { id: grantId }: { id: string },
): Promise<UserGrant> => revokeGrant(context, { userId: context.viewer.userId, grantId });
