import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLError } from 'graphql';
import { Overloaded } from '../../admission/overloaded.ts';
import { requestError } from '../../graphql/request-error.ts';
import type { Services } from '../../services.ts';
import { isOwnOrigin } from '../../web/own-origin.ts';
import { answerGraphQL, type GraphQLServer, readParams, sendOverloaded } from '../graphql.ts';
import { identifyAs } from '../identify.ts';
import { badRequest, bodyFaultOf, errorOfBody, takeJson } from '../json-body.ts';
import { senderInSession } from './session.ts';

const path = '/console/graphql';
const contentTypes = ['application/json'];

/**
 * Mounts `POST /console/graphql`: `/graphql` for whoever is signed in to the console. The cookie counts only together
 * with what no page of another site can send: this service's own `Origin`, a header of our own, and JSON.
 */
export function mountConsoleGraphQL(
  http: FastifyInstance,
  services: Services,
  server: GraphQLServer,
): void {
  const answer = answerGraphQL(services, server, { isConsole: true });
  http.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers({
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
      const fault = faultOfRequest(services, request);
      if (fault) return refuse(reply, fault);
      identifyAs(request, senderInSession(services, request));
      return undefined;
    });
    takeJson(scope, services, contentTypes);
    scope.setErrorHandler((error, request, reply) => {
      if (error instanceof Overloaded) return sendOverloaded(reply, error);
      const fault = bodyFaultOf(error, contentTypes);
      return answer(request, reply, { fault: fault ? errorOfBody(fault) : error });
    });
    scope.route({
      url: path,
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      handler: (request, reply) => answer(request, reply, readParams(request)),
    });
  });
}

function faultOfRequest(
  services: Services,
  { method, headers }: FastifyRequest,
): GraphQLError | undefined {
  if (method !== 'POST') return badRequest(405, 'Only POST and WebSocket are taken here.');
  const isFromPage =
    headers['x-signet-console'] === '1' && isOwnOrigin(services, headers, { isRequired: true });
  return isFromPage
    ? undefined
    : requestError('FORBIDDEN', 'This is for pages of this service alone.');
}

function refuse(reply: FastifyReply, { message, extensions }: GraphQLError): FastifyReply {
  const { http = {}, ...told } = extensions as { http?: { status?: number } };
  const status = http.status ?? 403;
  if (status === 405) reply.header('allow', 'POST');
  return reply.code(status).send({ errors: [{ message, extensions: told }] });
}
