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
  const found = await client.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT "name" FROM "Application"
     WHERE "exchangeThirdPartySubjectTokens" AND "allowTokenExchange"
       AND (cardinality("exchangeSubjectAudiences") = 0 OR "exchangeSubjectAudiences" && ${[...resources]}::text[])
     ORDER BY "name"`;
  return found.map(({ name }) => name);
}
