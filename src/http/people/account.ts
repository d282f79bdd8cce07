import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TokenFault } from '../../auth/access-token.ts';
import { authenticateViewer } from '../../auth/viewer.ts';
import { maxBodyBytes } from '../../body-limits.ts';
import { visitorOf } from '../../experience/access/visitor.ts';
import { requestError } from '../../graphql/request-error.ts';
import { failureWait } from '../../protection/addresses.ts';
import { accountSchema } from '../../schema.ts';
import { type Services, systemActor, type Viewer } from '../../services.ts';
import { mountJsonPost, refuseAddress } from './json-post.ts';

const path = '/account/graphql';

// The token is in a header and no cookie is read, so any page with a token may call.
const anyOrigin = { 'access-control-allow-origin': '*' };
const preflight = {
  ...anyOrigin,
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type',
  'access-control-max-age': '3600',
};

async function findViewer(
  services: Services,
  { headers: { authorization } }: FastifyRequest,
): Promise<Viewer | null> {
  if (!authorization) return null;
  try {
    return await authenticateViewer(services, authorization);
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    throw requestError('UNAUTHENTICATED', `The access token is refused: ${error.message}.`);
  }
}

/** Mounts the Account API, for people who look after their own account. */
export async function mountAccount(http: FastifyInstance, services: Services): Promise<void> {
  await http.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(anyOrigin);
      // Only failures count: a service that calls for many people shares one address.
      const wait = failureWait(services, request.ip);
      if (wait === undefined) return undefined;
      return refuseAddress(reply.code(429).header('retry-after', wait));
    });
    scope.options(path, async (_request, reply) => reply.code(204).headers(preflight).send());
    mountJsonPost(scope, services, {
      path,
      schema: accountSchema,
      maxBodyBytes: maxBodyBytes.account,
      context: async ({ asked }) => {
        const viewer = await findViewer(services, asked);
        return {
          ...services,
          caller: null,
          actor: viewer
            ? { type: 'USER', id: viewer.userId, clientId: viewer.clientId }
            : systemActor,
          traceId: asked.id,
          viewer,
          // A program sends no cookies, and here they would prove nothing.
          visitor: { ...visitorOf(asked), cookies: undefined },
        };
      },
    });
  });
}
