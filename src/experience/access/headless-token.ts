import { credentialsOf } from '../../auth/authorization.ts';
import { digestOf } from '../../keys/digest.ts';
import type { InteractionAccess, Services } from '../../services.ts';

/**
 * Finds the interaction of the token in an `Authorization: Interaction <token>` header.
 *
 * @returns Null for a header in another form, and for an unknown token.
 */
export async function findTokenInteraction(
  { database }: Pick<Services, 'database'>,
  authorization: string,
): Promise<InteractionAccess | null> {
  const token = credentialsOf(authorization, 'Interaction');
  if (token === undefined || !/^[\w-]{43}$/.test(token)) return null;
  const interaction = await database.prisma.interaction.findUnique({
    where: { digest: digestOf(token) },
    select: { id: true, applicationId: true, request: true },
  });
  // The id of a browser's interaction stands in its URL, so it must give no access.
  if (!interaction || interaction.request === null) return null;
  const { id, applicationId } = interaction;
  return { id, applicationId, uid: null };
}
