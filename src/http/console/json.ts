import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { iatOf, signAccessToken } from '../../auth/access-token.ts';
import { toNumericDate } from '../../clock.ts';
import { consoleApp } from '../../console/app.ts';
import { forgetSetupFile, type SetupFolder, useSetupToken } from '../../console/setup-token.ts';
import { ConflictError, InvalidInputError } from '../../errors.ts';
import { isFailureCode } from '../../failures.ts';
import { maskFault } from '../../graphql/public-error.ts';
import { beginFirstPartySession } from '../../oidc/first-party/session.ts';
import { signInAtOnce } from '../../oidc/first-party/sign-in.ts';
import type { Services } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { isOwnOrigin } from '../../web/own-origin.ts';
import { bodyFaultOf } from '../json-body.ts';
import { type Problem, sendProblem } from '../problem.ts';
import { noSession, sessionOf } from './session.ts';

const contentTypes = ['application/json'];
const maxBodyBytes = 16 * 1024;

/**
 * Mounts the console's routes beside GraphQL: the session, a token of its rights, and the setup of the first
 * administrator.
 */
export function mountConsoleJson(
  http: FastifyInstance,
  services: Services,
  setupFolder: SetupFolder,
): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      contentTypes,
      { parseAs: 'string', bodyLimit: maxBodyBytes },
      (_request, body, done) => {
        try {
          done(null, JSON.parse(String(body)));
        } catch {
          done(null, undefined);
        }
      },
    );
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      reply.header('cross-origin-resource-policy', 'same-origin');
    });
    scope.setErrorHandler((error: Error, request, reply) =>
      sendProblem(reply, problemOf(error, request)),
    );

    scope.get('/console/session', (request, reply) => tellSession(services, request, reply));
    scope.post('/console/token', (request, reply) => issueToken(services, request, reply));
    scope.post('/console/setup', (request, reply) => setUp(services, setupFolder, request, reply));
  });
}

async function tellSession(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await sessionOf(services, request);
  const user =
    session &&
    (await services.database.prisma.user.findUnique({
      where: { id: session.userId },
      select: {
        id: true,
        username: true,
        name: true,
        primaryEmail: true,
        avatar: true,
        profile: true,
      },
    }));
  if (!session || !user) return sendProblem(reply, { code: 'UNAUTHENTICATED', detail: noSession });
  const { profile, ...shown } = user;
  const { locale } = profile as { locale?: unknown };
  return reply.send({
    user: shown,
    scopes: [...session.scopes].sort(),
    expiresAt: session.expiresAt.toISOString(),
    ...(typeof locale === 'string' ? { locale } : {}),
  });
}

/** How long a token lasts that a person takes from the console, unless the session ends before. */
const tokenSeconds = 3600;

/**
 * Issues an access token for the management API to whoever is signed in, for programs of their own. It has the rights
 * that the session has now, ends no later than the session would, and ends with it: when the person signs out, is
 * suspended, or changes the password.
 */
async function issueToken(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const isFromPage =
    request.headers['x-signet-console'] === '1' &&
    isOwnOrigin(services, request.headers, { isRequired: true });
  if (!isFromPage) {
    return sendProblem(reply, {
      code: 'NOT_ALLOWED',
      detail: 'This is for pages of this service alone.',
    });
  }
  const session = await sessionOf(services, request);
  if (!session) return sendProblem(reply, { code: 'UNAUTHENTICATED', detail: noSession });
  const now = services.clock.now();
  const exp = Math.min(toNumericDate(now) + tokenSeconds, toNumericDate(session.expiresAt));
  const scopes = [...session.scopes].sort();
  const accessToken = await signAccessToken(services.keys, {
    ...session.claims,
    // The session's instant stays in it: what ends the session's grant ends the token.
    iat: iatOf(now),
    exp,
    scope: scopes.join(' '),
  });
  return reply
    .code(201)
    .send({ accessToken, scopes, expiresAt: new Date(exp * 1000).toISOString() });
}

async function setUp(
  services: Services,
  setupFolder: SetupFolder,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (!isOwnOrigin(services, request.headers, { isRequired: false })) {
    return sendProblem(reply, {
      code: 'NOT_ALLOWED',
      detail: 'This is for pages of this service alone.',
    });
  }
  const { body } = request;
  if (typeof body !== 'object' || body === null) {
    return sendProblem(reply, { code: 'BAD_USER_INPUT', detail: 'The body is not a JSON object.' });
  }
  const { token, ...input } = body as { token?: unknown };
  const call = { ...services, ...callOf(request) };
  const user = await useSetupToken(
    call,
    typeof token === 'string' ? token : '',
    input as Parameters<typeof useSetupToken>[2],
  );
  if (!user) return sendProblem(reply, usedLink);
  await forgetSetupFile(setupFolder);
  const signedIn = await signInAtOnce(call, consoleApp, user.id);
  const cookie = await beginFirstPartySession(services, consoleApp, signedIn);
  const { id, username, name, primaryEmail, avatar } = user;
  return reply
    .code(201)
    .header('set-cookie', cookie)
    .send({ user: { id, username, name, primaryEmail, avatar } });
}

const usedLink: Problem = {
  code: 'NOT_ALLOWED',
  detail:
    'The link was used, has expired, or is not complete. If there is an administrator, sign in. If there is none, start the service again: it prints a new link.',
};

function problemOf(error: unknown, { id, log }: FastifyRequest): Problem {
  const fault = bodyFaultOf(error, contentTypes);
  if (fault) return { code: fault.code, detail: fault.message };
  if ((error as { code?: string }).code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return {
      code: 'PAYLOAD_TOO_LARGE',
      detail: `The body must have at most ${maxBodyBytes} bytes.`,
    };
  }
  if (error instanceof InvalidInputError) {
    return { code: error.code, detail: error.message, members: { issues: error.issues } };
  }
  if (error instanceof ConflictError) {
    return { code: error.code, detail: error.message, members: { path: error.path } };
  }
  const { extensions, message }: GraphQLError = maskFault(error, id, log as Logger);
  const { code, http: _http, ...members } = extensions;
  return {
    code: isFailureCode(code) ? code : 'INTERNAL_SERVER_ERROR',
    detail: message,
    members,
  };
}
