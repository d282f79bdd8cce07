import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';
import { proofAlgorithms } from './dpop/proof.ts';
import { canonicalIndicator } from './indicators.ts';
import { managementIndicator, managementScopes } from './scopes.ts';

/** A way to the management API that describes itself to clients. */
type ManagementPath = '/graphql' | '/api' | '/mcp';

const canonicalUrls = new Map<string, string | null>();

/** The canonical form of a URL of the service. It is kept: each token request is compared with them. */
function canonicalUrl(url: string): string | null {
  const known = canonicalUrls.get(url);
  if (known !== undefined) return known;
  const canonical = canonicalIndicator(url);
  canonicalUrls.set(url, canonical);
  return canonical;
}

/** The ways to the management API that are open here. */
const managementPaths = ({ config }: Pick<Services, 'config'>): readonly ManagementPath[] =>
  config.mcp ? ['/graphql', '/api', '/mcp'] : ['/graphql', '/api'];

/**
 * The indicator of the resource that a request names. A client that learned of the management API by its URL names that
 * (RFC 9728 §7.4), in any spelling.
 */
export const indicatorNamedBy = (
  services: Pick<Services, 'config' | 'baseUrl'>,
  resource: string,
): string => {
  const canonical = canonicalIndicator(resource);
  const isIt = (path: ManagementPath) => canonicalUrl(`${services.baseUrl}${path}`) === canonical;
  return canonical !== null && managementPaths(services).some(isIt)
    ? managementIndicator
    : resource;
};

const metadataPath = '/.well-known/oauth-protected-resource';

/** Mounts what describes the management API to clients that know nothing but its URL (RFC 9728 §3). */
export function mountProtectedResources(http: FastifyInstance, services: Services): void {
  const { baseUrl, issuer } = services;
  for (const path of managementPaths(services)) {
    const metadata = {
      resource: `${baseUrl}${path}`,
      authorization_servers: [issuer],
      scopes_supported: [...managementScopes.keys()],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: proofAlgorithms,
      resource_name: 'Signet management API',
    };
    http.get(`${metadataPath}${path}`, { config: { turn: 'none' } }, async (_request, reply) =>
      reply.header('access-control-allow-origin', '*').send(metadata),
    );
  }
}

/** A challenge (RFC 6750 §3) that also tells where the description of the resource is (RFC 9728 §5.1). */
export function challengeAt(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  path: ManagementPath,
  challenge: string,
): string {
  const described = `resource_metadata="${baseUrl}${metadataPath}${path}"`;
  if (challenge === 'Bearer') return `Bearer ${described}`;
  return challenge.startsWith('Bearer ')
    ? challenge.replace('Bearer ', `Bearer ${described}, `)
    : `${challenge}, ${described}`;
}

/** Makes every challenge of a scope's routes tell where the description of the resource is. */
export function describeChallenges(
  scope: FastifyInstance,
  services: Pick<Services, 'baseUrl'>,
  path: ManagementPath,
): void {
  scope.addHook('onSend', async (_request, reply) => {
    const challenge = reply.getHeader('www-authenticate');
    if (typeof challenge === 'string')
      reply.header('www-authenticate', challengeAt(services, path, challenge));
  });
}
