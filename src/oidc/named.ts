import type { FastifyRequest } from 'fastify';
import { indicatorNamedBy } from '../auth/protected-resource.ts';
import { kindOfId } from '../ids.ts';
import { registeredSpellings } from '../resources/spellings.ts';
import type { Services } from '../services.ts';
import { callOf } from '../web/call.ts';
import { resolveDocument } from './registration/resolve-document.ts';
import { decodeFormText, type Form } from './token/form.ts';

/** The pairs of parameters that are in form encoding, as they stand there and decoded. */
const pairsOf = (parameters: string) =>
  parameters.split('&').map((pair) => {
    const [name = '', value] = pair.split(/=(.*)/s, 2).map(decodeFormText);
    return { pair, name, value };
  });

/** Replaces values of parameters that are in form encoding: the query of an address, or a body. */
async function replaced(
  parameters: string,
  replace: (name: string, value: string) => string | Promise<string>,
): Promise<string> {
  const pairs = pairsOf(parameters).map(async ({ pair, name, value }) => {
    if (value === undefined) return pair;
    const other = await replace(name, value);
    return other === value ? pair : `${name}=${encodeURIComponent(other)}`;
  });
  return (await Promise.all(pairs)).join('&');
}

const named: ReadonlySet<string> = new Set(['resource', 'audience']);

// The name of a parameter may be encoded too.
const namesResource = /(?:^|&)(?:resource=|audience=|[^=&]*%)/;

/**
 * The parameters of a request, with resources in their registered spelling, and the management API's indicator in place
 * of its URLs. Where only `audience` names a resource, as some clients do, `resource` names it too.
 */
export const withIndicators = async (
  services: Pick<Services, 'config' | 'baseUrl' | 'database'>,
  parameters: string,
): Promise<string> => {
  if (!namesResource.test(parameters)) return parameters;
  const asked = pairsOf(parameters).flatMap(({ name, value }) =>
    value !== undefined && named.has(name) ? [indicatorNamedBy(services, value)] : [],
  );
  const registered = await registeredSpellings(services.database.tokens, asked);
  const respelled = await replaced(parameters, (name, value) => {
    if (!named.has(name)) return value;
    const indicator = indicatorNamedBy(services, value);
    return registered.get(indicator) ?? indicator;
  });
  const pairs = pairsOf(respelled);
  const audience = pairs.findLast(({ name, value }) => name === 'audience' && value)?.value;
  if (!audience || pairs.some(({ name, value }) => name === 'resource' && value)) return respelled;
  // A parameter without a value counts as left out (RFC 6749 section 3.1).
  const others = pairs.filter(({ name }) => name !== 'resource').map(({ pair }) => pair);
  return [...others, `resource=${encodeURIComponent(audience)}`].join('&');
};

/**
 * A form with the management API's indicator in place of its URLs. The statement of a grant finds other resources in any
 * spelling.
 */
export const withOwnIndicators = (
  services: Pick<Services, 'config' | 'baseUrl'>,
  form: Form,
): Form => form.with(named, (value) => indicatorNamedBy(services, value));

/**
 * The parameters of a request, with an application's id in place of the URL of its metadata document. The document is
 * read again where that is due, also for the id: it must not be a way around what the document says now.
 *
 * @throws {ClientIdRefused}
 */
export async function withApplicationId(
  services: Services,
  request: FastifyRequest,
  parameters: string,
): Promise<string> {
  const { application } = services.database.prisma;
  return replaced(parameters, async (name, value) => {
    if (name !== 'client_id') return value;
    const asking = { ...services, ...callOf(request) };
    if (/^https?:/i.test(value)) return resolveDocument(asking, value);
    if (kindOfId(value) !== 'Application') return value;
    const found = await application.findUnique({
      where: { id: value },
      select: { metadataUrl: true },
    });
    return found?.metadataUrl ? resolveDocument(asking, found.metadataUrl) : value;
  });
}
