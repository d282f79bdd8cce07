import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { consoleApp } from '../../console/app.ts';
import { isSetupToken, type SetupFolder } from '../../console/setup-token.ts';
import { mountSignIn } from '../../oidc/first-party/mount.ts';
import type { Services } from '../../services.ts';
import { lookFor, spokenBy } from '../../web/look.ts';
import { isOwnOrigin } from '../../web/own-origin.ts';
import { sendPage } from '../../web/page.ts';
import type { ConsoleFiles } from './files.ts';
import { mountConsoleJson } from './json.ts';
import {
  type ConsolePage,
  cancelledSignInPage,
  failedSignInPage,
  notBuiltPage,
  refusedSetupPage,
  signedOutPage,
} from './pages.ts';
import { mountPreview } from './preview.ts';

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  // The preview of the sign-in pages.
  "frame-src 'self'",
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
const beneath = (path: string, page: Buffer): Buffer | string =>
  path === '' ? page : String(page).replaceAll('"/console/', `"${path}/console/`);

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
  const send = async (request: FastifyRequest, reply: FastifyReply, shown: ConsolePage) => {
    const look = await lookFor(services, spokenBy(request));
    return sendPage(reply, look, shown(look.language, baseUrl));
  };
  const sendApp = async (
    request: FastifyRequest,
    reply: FastifyReply,
    page: 'overview' | 'other' | 'setup',
  ) => {
    const content = await files.readPage(page === 'overview');
    if (!content) return send(request, reply.code(503), notBuiltPage);
    const path = pathOf(baseUrl);
    // Asked for while the scripts load.
    if (page !== 'setup')
      reply.header('link', `<${path}/console/session>; rel=preload; as=fetch; crossorigin`);
    return reply.headers(appHeaders).send(beneath(path, content));
  };

  mountConsoleJson(http, services, setupFolder);

  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The form that signs out has no fields.
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: 1024 },
      (_request, _body, done) => done(null),
    );

    mountPreview(scope, services);
    scope.get('/console', (request, reply) => sendApp(request, reply, 'overview'));
    scope.get('/console/', (request, reply) => sendApp(request, reply, 'overview'));
    scope.get('/console/*', (request, reply) => sendApp(request, reply, 'other'));

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
        ? sendApp(request, reply, 'setup')
        : send(request, reply.code(403), refusedSetupPage);
    });

    mountSignIn(scope, services, consoleApp, {
      failed: (request, reply, isCancelled) =>
        send(request, reply, isCancelled ? cancelledSignInPage : failedSignInPage),
      signedOut: (request, reply) => send(request, reply, signedOutPage),
      maySignOut: ({ headers }) => isOwnOrigin(services, headers, { isRequired: true }),
      signOutRefused: (request, reply) => send(request, reply.code(403), failedSignInPage),
    });
  });
}
