import type { FastifyInstance, FastifyRequest } from 'fastify';
import { describeChallenges } from '../auth/protected-resource.ts';
import { assertKnown } from '../graphql/builder.ts';
import { onceOf, replayedHeader } from '../graphql/mutations/safe-writes.ts';
import { requestError } from '../graphql/request-error.ts';
import type { GraphQLServer } from '../http/graphql.ts';
import { contextOf, identify } from '../http/identify.ts';
import { BodyFault, takeJson } from '../http/json-body.ts';
import { problemOf, refuseOtherMethods, sendProblem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { callOf } from '../web/call.ts';
import { isOwnOrigin } from '../web/own-origin.ts';

const path = '/mcp';
const contentTypes = ['application/json'];

/**
 * Mounts `POST /mcp`: the management API for programs that use tools. It keeps no sessions and opens no streams, so each
 * message is a request of its own, with its own token and its own turn.
 *
 * @see https://modelcontextprotocol.io/specification
 */
export async function mountMcp(
  http: FastifyInstance,
  services: Services,
  graphql: GraphQLServer,
): Promise<void> {
  // Its package is loaded only where it is switched on.
  const { answerMessage } = await import('./message.ts');
  const callerOf = async (request: FastifyRequest) => {
    const { caller } = contextOf(services, await identify(services, request), callOf(request));
    assertKnown(caller);
    return caller;
  };
  await http.register(async (scope) => {
    describeChallenges(scope, services, path);
    takeJson(scope, services, contentTypes);
    scope.setErrorHandler((error: Error, request, reply) =>
      sendProblem(reply, problemOf(error, request, contentTypes)),
    );
    // A page of another site may have this machine's address under its own name (DNS rebinding).
    scope.addHook('onRequest', async ({ headers }) => {
      if (headers.origin === undefined || isOwnOrigin(services, headers, { isRequired: true }))
        return;
      throw requestError('FORBIDDEN', 'Pages of other origins may not call this.');
    });
    scope.route({
      method: 'POST',
      url: path,
      // In its turn, and before the body is read: a stranger has nothing to say here.
      preParsing: async (request, _reply, payload) => {
        await callerOf(request);
        return payload;
      },
      handler: async (request, reply) => {
        const { body, headers } = request;
        if (body === undefined) throw new BodyFault('BAD_USER_INPUT', 'The body is empty.');
        // Each call waits for a turn of its own.
        if (Array.isArray(body))
          throw new BodyFault('BAD_USER_INPUT', 'The body is one message, not a batch.');
        const caller = await callerOf(request);
        const once = onceOf(headers['idempotency-key'], () => reply.header(replayedHeader, 'true'));
        const answer = await answerMessage(services, graphql, request, { caller, once });
        return reply
          .code(answer.status)
          .headers(Object.fromEntries(answer.headers))
          .header('cache-control', 'no-store')
          .send(Buffer.from(await answer.arrayBuffer()));
      },
    });
    refuseOtherMethods(scope, [{ method: 'POST', path }]);
  });
}
