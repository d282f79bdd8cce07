import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endConsoleSession, forgetConsoleSession } from '../../console/session.ts';
import type { SetupFolder } from '../../console/setup-token.ts';
import { isSetupToken } from '../../console/setup-token.ts';
import { beginSignIn, finishSignIn, pathToReturnTo } from '../../console/sign-in.ts';
import { isOwnOrigin } from '../../experience/access/own-origin.ts';
import { lookFor } from '../../html/look.ts';
import { type Look, pageHeaders } from '../../html/page.ts';
import type { Services } from '../../services.ts';
import {
  noSessionCookie,
  noSignInCookie,
  sessionCookie,
  sessionSecretOf,
  signInCookies,
  signInOf,
} from './cookies.ts';
import type { ConsoleFiles } from './files.ts';
import { mountConsoleJson } from './json.ts';
import {
  failedSignInPage,
  notBuiltPage,
  refusedSetupPage,
  signedOutPage,
  signInPath,
} from './pages.ts';
import { sessionOf } from './session.ts';

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const appHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Not no-referrer: that would take the Origin header from the form that signs out.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

type Query = Readonly<Record<string, string | string[] | undefined>>;
type Request = FastifyRequest<{ Querystring: Query }>;

const one = (value: Query[string]): string => (typeof value === 'string' ? value : '');

/** The path of a public address, without its last slash. */
const pathOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, '');

/** The app's page with the addresses of its files beneath the path of the public address. */
const beneath = (path: string, index: Buffer): Buffer | string =>
  path === '' ? index : String(index).replaceAll('"/console/', `"${path}/console/`);

/**
 * Mounts `/console`: the web app, and signing in to it. The app's files are the same for everyone; what it shows comes
 * from `/console/graphql`.
 */
export async function mountConsole(
  http: FastifyInstance,
  services: Services,
  { files, setupFolder }: { readonly files: ConsoleFiles; readonly setupFolder: SetupFolder },
): Promise<void> {
  const { baseUrl } = services;
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    pageIn: (look: Look) => string,
  ) => {
    const look = await lookFor(services, { acceptLanguage: request.headers['accept-language'] });
    return reply.code(status).headers(pageHeaders(look)).send(pageIn(look));
  };
  const sendApp = async (request: FastifyRequest, reply: FastifyReply) => {
    const index = await files.readIndex();
    if (!index) return send(request, reply, 503, notBuiltPage);
    return reply.headers(appHeaders).send(beneath(pathOf(baseUrl), index));
  };
  const goTo = (reply: FastifyReply, url: string) =>
    reply.header('cache-control', 'no-store').redirect(url, 303);

  mountConsoleJson(http, services, setupFolder);

  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The form that signs out has no fields.
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: 1024 },
      (_request, _body, done) => done(null),
    );

    scope.get('/console', sendApp);
    scope.get('/console/*', sendApp);

    scope.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
      const { name } = request.params;
      const file = await files.readAsset(name, request.headers['accept-encoding']);
      if (!file) {
        return reply.code(404).header('cache-control', 'no-store').type('text/plain').send('');
      }
      if (file.encoding) reply.header('content-encoding', file.encoding);
      return reply
        .headers({
          'content-type': file.type,
          'cache-control': 'public, max-age=31536000, immutable',
          'cross-origin-resource-policy': 'same-origin',
          vary: 'Accept-Encoding',
        })
        .send(file.content);
    });

    scope.get('/console/setup', async (request, reply) => {
      const { token } = (request as Request).query;
      return (await isSetupToken(services, one(token)))
        ? sendApp(request, reply)
        : send(request, reply, 403, (look) => refusedSetupPage(look, baseUrl));
    });

    scope.get('/console/sign-in', async (request, reply) => {
      const { to, at } = (request as Request).query;
      const path = pathToReturnTo(baseUrl, to);
      // Cookies belong to a host, and the way back leads to that of BASE_URL. Once: a proxy may change the host.
      if (request.host !== new URL(baseUrl).host && at === undefined) {
        const there = new URLSearchParams({ to: path, at: 'home' });
        return goTo(reply, `${baseUrl}${signInPath}?${there}`);
      }
      // Another tab has signed in: to do so again would end its session.
      if (await sessionOf(services, request)) return goTo(reply, `${baseUrl}${path}`);
      const begun = beginSignIn(services, path);
      reply.header('set-cookie', signInCookies(services, request, begun));
      return goTo(reply, begun.url);
    });

    scope.get('/console/callback', async (request, reply) => {
      const { state, code, iss, error } = (request as Request).query;
      const sealed = signInOf(services, request, one(state));
      const finished =
        sealed === undefined || error !== undefined
          ? undefined
          : await finishSignIn(services, {
              state: one(state),
              code: one(code),
              iss: one(iss),
              sealed,
            });
      const cookies = sealed === undefined ? [] : [noSignInCookie(services, one(state))];
      if (finished) {
        await forgetConsoleSession(services, sessionSecretOf(services, request.headers.cookie));
        reply.header('set-cookie', [...cookies, sessionCookie(services, finished.secret)]);
        return goTo(reply, `${baseUrl}${finished.to}`);
      }
      if (cookies.length > 0) reply.header('set-cookie', cookies);
      // Back, or a reload, after the sign-in.
      if (await sessionOf(services, request)) return goTo(reply, `${baseUrl}/console`);
      const isCancelled = sealed !== undefined && error === 'access_denied';
      return send(request, reply, 400, (look) => failedSignInPage(look, baseUrl, isCancelled));
    });

    scope.post('/console/sign-out', async (request, reply) => {
      if (!isOwnOrigin(services, request.headers, { isRequired: true })) {
        return send(request, reply, 403, (look) => failedSignInPage(look, baseUrl, false));
      }
      const secret = sessionSecretOf(services, request.headers.cookie);
      if (secret !== undefined) {
        await endConsoleSession({ ...services, traceId: request.id }, secret);
      }
      reply.header('set-cookie', noSessionCookie(services));
      return goTo(reply, `${baseUrl}/console/signed-out`);
    });

    scope.get('/console/signed-out', (request, reply) =>
      send(request, reply, 200, (look) => signedOutPage(look, baseUrl)),
    );
  });
}
