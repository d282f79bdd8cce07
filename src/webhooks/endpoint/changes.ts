import type { PrismaClient, Webhook } from '../../generated/prisma/client.ts';
import { changes } from '../../graphql/changes.ts';

/** Follows one webhook until it is deleted. Ends at once if there is no webhook with this id. */
export async function followWebhook(
  prisma: PrismaClient,
  id: string,
): Promise<AsyncIterableIterator<Webhook, void, void>> {
  let last = await prisma.webhook.findUnique({ where: { id } });
  return changes(async () => {
    if (!last) return undefined;
    const { revision, updatedAt } = last;
    last = await prisma.webhook.findUnique({ where: { id } });
    if (!last) return undefined;
    const isSame = revision === last.revision && updatedAt.getTime() === last.updatedAt.getTime();
    return isSame ? [] : [last];
  });
}
