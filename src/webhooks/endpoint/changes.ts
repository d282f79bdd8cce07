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
    const before = stateOf(last);
    last = await prisma.webhook.findUnique({ where: { id } });
    if (!last) return undefined;
    return before === stateOf(last) ? [] : [last];
  });
}

/** What differs once a webhook has changed. */
const stateOf = ({ revision, updatedAt, failingSince }: Webhook): string =>
  [revision, updatedAt.getTime(), failingSince?.getTime()].join(' ');
