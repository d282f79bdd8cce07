import type { UserGrant } from '../../generated/prisma/client.ts';
import { revokeGrant } from '../../oidc/consent/operations.ts';
import type { ViewerContext } from '../../services.ts';

/**
 * Takes back what the person has allowed an application. Raises no event.
 *
 * @returns The grant as it last was.
 * @throws {NotFoundError} if it is not the person's.
 */
export const revokeViewerGrant = (
  context: ViewerContext,
  { id }: { id: string },
): Promise<UserGrant> => revokeGrant(context, { userId: context.viewer.userId, grantId: id });
