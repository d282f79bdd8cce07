import type { FastifyInstance } from 'fastify';
import { assertAllowed } from '../graphql/builder.ts';
import { contextOf, identify } from '../http/identify.ts';
import { takeJson } from '../http/json-body.ts';
import { problemOf, refuseOtherMethods, sendProblem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { callOf } from '../web/call.ts';
import { answerEvaluation, answerEvaluations } from './evaluations.ts';
import { answerActionSearch, answerResourceSearch, answerSubjectSearch } from './searches.ts';

/** Each endpoint by its parameter of the metadata (§9.1.1), with its path (§10.1). */
const endpoints = {
  access_evaluation_endpoint: ['/access/v1/evaluation', answerEvaluation],
  access_evaluations_endpoint: ['/access/v1/evaluations', answerEvaluations],
  search_subject_endpoint: ['/access/v1/search/subject', answerSubjectSearch],
  search_action_endpoint: ['/access/v1/search/action', answerActionSearch],
  search_resource_endpoint: ['/access/v1/search/resource', answerResourceSearch],
} as const;

const metadataPath = '/.well-known/authzen-configuration';
const metadataFreshSeconds = 3_600;

/**
 * Mounts the service as a policy decision point: who may do what, asked instead of read in tokens. The answers are those
 * that the token endpoint would give at that moment.
 *
 * @see https://openid.net/specs/authorization-api-1_0.html
 */
export async function mountAuthZen(http: FastifyInstance, services: Services): Promise<void> {
  const { baseUrl } = services;
  const metadata = {
    policy_decision_point: baseUrl,
    ...Object.fromEntries(
      Object.entries(endpoints).map(([parameter, [path]]) => [parameter, `${baseUrl}${path}`]),
    ),
  };
  await http.register(async (scope) => {
    // A caller that names its request gets the name back, whatever becomes of it (§10.1.3).
    scope.addHook('onRequest', async ({ headers }, reply) => {
      const id = headers['x-request-id'];
      if (id !== undefined) reply.header('x-request-id', id);
    });
    scope.get(metadataPath, { config: { turn: 'none' } }, async (_request, reply) =>
      reply
        .header('access-control-allow-origin', '*')
        .header('cache-control', `public, max-age=${metadataFreshSeconds}`)
        .send(metadata),
    );
    takeJson(scope, services, ['application/json']);
    scope.setErrorHandler((error: Error, request, reply) => {
      const problem = problemOf(error, request, ['application/json']);
      // The standard has one status for all of a body's faults but its length.
      const code = problem.code === 'UNSUPPORTED_MEDIA_TYPE' ? 'BAD_USER_INPUT' : problem.code;
      return sendProblem(reply, { ...problem, code });
    });
    for (const [path, answer] of Object.values(endpoints)) {
      scope.route({
        method: 'POST',
        url: path,
        // Before the body is read: a stranger learns nothing of what would be well-formed.
        onRequest: async (request) => {
          const sender = await identify(services, request);
          assertAllowed(contextOf(services, sender, callOf(request)).caller, 'permissions:read');
        },
        handler: async ({ body }, reply) => {
          const answered = await answer(services, body);
          return (
            reply
              .header('cache-control', 'no-store')
              .header('content-type', 'application/json')
              // As bytes: with a text, Node would write the name of the request in another encoding.
              .send(Buffer.from(JSON.stringify(answered)))
          );
        },
      });
    }
    refuseOtherMethods(
      scope,
      Object.values(endpoints).map(([path]) => ({ method: 'POST', path })),
    );
  });
}
