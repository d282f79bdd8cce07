import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TokenFault } from '../../auth/access-token.ts';
import { authenticateViewer } from '../../auth/viewer.ts';
import { maxBodyBytes } from '../../body-limits.ts';
import { failureWait } from '../../protection/addresses.ts';
import { accountSchema } from '../../schema.ts';
import { type Services, systemActor, type Viewer } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { visitorOf } from '../../web/visitor.ts';
import { dpopHeaders, proofOf, refusedToken } from '../identify.ts';
import { mountJsonPost, refuseAddress } from './json-post.ts';

const path = '/account/graphql';

// The token is in a header and no cookie is read, so pages of any origin may call with one.
const anyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': dpopHeaders.join(', '),
};
const preflight = {
  ...anyOrigin,
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type, dpop',
  'access-control-max-age': '3600',
};

async function findViewer(services: Services, request: FastifyRequest): Promise<Viewer | null> {
  const { authorization } = request.headers;
  if (!authorization) return null;
  try {
    return await authenticateViewer(services, { authorization, ...proofOf(services, request) });
  } catch (error) {
    throw error instanceof TokenFault ? refusedToken(error) : error;
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
          ...callOf(asked),
          viewer,
          // A program sends no cookies, and here they would prove nothing.
          visitor: { ...visitorOf(asked), cookies: undefined },
        };
      },
    });
  });
}
