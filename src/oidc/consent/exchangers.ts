import { listsIndicator } from '../../auth/indicators.ts';
import type { Client, ConsentRequest } from './asked.ts';

/**
 * Finds who may exchange the tokens of a third-party application, and so do with them what the person may do: the
 * applications that accept such tokens for one of the requested resources. None for a request without a resource, whose
 * token is no subject token.
 *
 * @returns Their names, in order.
 */
export async function readExchangers(
  client: Client,
  { application, resources }: Pick<ConsentRequest, 'application' | 'resources'>,
): Promise<string[]> {
  if (!application.isThirdParty || resources.length === 0) return [];
  // By the index of those few that accept any, among however many applications have registered themselves.
  const found = await client.$queryRaw<{ name: string; audiences: readonly string[] }[]>`
    SELECT "name", "exchangeSubjectAudiences" AS "audiences" FROM "Application"
     WHERE "exchangeThirdPartySubjectTokens" AND "allowTokenExchange"
     ORDER BY "name"`;
  const accepts = (audiences: readonly string[]) =>
    audiences.length === 0 || resources.some((resource) => listsIndicator(audiences, resource));
  const names = found.filter(({ audiences }) => accepts(audiences)).map(({ name }) => name);
  return [...new Set(names)];
}
