import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { indicatorNamedBy } from '../auth/protected-resource.ts';
import { kindOfId } from '../ids.ts';
import type { Services } from '../services.ts';
import { callOf } from '../web/call.ts';
import { resolveDocument } from './registration/resolve-document.ts';
import { decodeFormText } from './token/form.ts';

/** Replaces values of parameters that are in form encoding: the query of an address, or a body. */
async function replaced(
  parameters: string,
  replace: (name: string, value: string) => string | Promise<string>,
): Promise<string> {
  const pairs = parameters.split('&').map(async (pair) => {
    const [name = '', value] = pair.split(/=(.*)/s, 2).map(decodeFormText);
    if (value === undefined) return pair;
    const other = await replace(name, value);
    return other === value ? pair : `${name}=${encodeURIComponent(other)}`;
  });
  return (await Promise.all(pairs)).join('&');
}

const named: ReadonlySet<string> = new Set(['resource', 'audience']);

/** The parameters of a request, with the management API's indicator in place of its URLs. */
export const withIndicators = async (
  services: Pick<Services, 'config' | 'baseUrl'>,
  parameters: string,
): Promise<string> =>
  /(?:^|&)(?:resource|audience)=http/.test(parameters)
    ? replaced(parameters, (name, value) =>
        named.has(name) ? indicatorNamedBy(services, value) : value,
      )
    : parameters;

/** As {@link withIndicators}, of a body that was not decoded yet. Most name no URL of the service. */
export const withIndicatorsIn = async (
  services: Pick<Services, 'config' | 'baseUrl'>,
  body: Buffer,
): Promise<Buffer> =>
  body.includes('=http') && isUtf8(body)
    ? Buffer.from(await withIndicators(services, body.toString('utf8')))
    : body;

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
