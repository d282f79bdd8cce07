import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { accountApplicationId } from '../../applications/own.ts';
import { maxBodyBytes } from '../../body-limits.ts';
import { isUnreachable } from '../../db/unreachable.ts';
import { NotAllowedError, VerificationRequiredError } from '../../errors.ts';
import { formTokenOf, hasFormToken } from '../../experience/access/form-token.ts';
import { isOwnOrigin } from '../../experience/access/own-origin.ts';
import { languageOf, urlOf, visitorOf } from '../../experience/access/visitor.ts';
import { problemOf } from '../../experience/forms/problem.ts';
import { failedPage, waitPage } from '../../experience/pages/stopped.ts';
import { texts } from '../../experience/pages/texts.ts';
import { retryAfterSeconds } from '../../failures.ts';
import { lookFor, lookWithoutDatabase } from '../../html/look.ts';
import { goOn, type Look, pageHeaders, page as pageOf, unavailablePage } from '../../html/page.ts';
import { cookieOf, goneCookie, keptCookie } from '../../oidc/own/cookies.ts';
import { beginOwnSignIn, finishOwnSignIn } from '../../oidc/own/sign-in.ts';
import { limitAddresses } from '../../protection/addresses.ts';
import type { Services, Viewer, ViewerContext } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { readProof } from '../operations/proof.ts';
import { endViewerSession, findViewerSession } from '../operations/sessions.ts';
import { readViewer } from '../operations/viewer.ts';
import { LastWayInError } from '../operations/ways-in.ts';
import { refusedParameter } from '../pages/frame.ts';
import { type AccountTexts, accountTexts } from '../pages/texts.ts';
import { accountApplication, findPagesViewer, pagesMaxSeconds, sealSession } from '../session.ts';
import type { AccountAnswer, AccountPage, AccountRequest, AccountVisit } from './account-page.ts';
import { emailPage, phonePage } from './address.ts';
import { sessionCookie, signIns } from './cookies.ts';
import { appPage, codesPage, factorsPage } from './factors.ts';
import { deletePage, passwordPage, profilePage, usernamePage } from './identity.ts';
import { applicationsPage, identitiesPage } from './links.ts';
import { overviewPage } from './overview.ts';
import { passkeyPage } from './passkey.ts';
import { providerProofPage } from './provider-proof.ts';
import { organizationsPage, sessionsPage } from './sessions.ts';
import { pathToReturnTo, pathToVerify, verifyPage } from './verify.ts';

const root = '/account';
const pages: readonly AccountPage[] = [
  overviewPage,
  profilePage,
  usernamePage,
  emailPage,
  phonePage,
  passwordPage,
  sessionsPage,
  organizationsPage,
  applicationsPage,
  identitiesPage,
  factorsPage,
  appPage,
  codesPage,
  passkeyPage,
  deletePage,
  verifyPage,
  providerProofPage,
];

type Query = Readonly<Record<string, string | string[] | undefined>>;
type Request = FastifyRequest<{ Querystring: Query; Body: URLSearchParams | undefined }>;

const one = (value: Query[string]): string => (typeof value === 'string' ? value : '');
const spokenBy = ({ headers }: FastifyRequest) => ({ acceptLanguage: headers['accept-language'] });

/** Mounts the pages of the own account at `/account`. */
export async function mountAccountPages(http: FastifyInstance, services: Services): Promise<void> {
  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: maxBodyBytes.page },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    scope.setErrorHandler((error: Error, request, reply) => fail(services, error, request, reply));
    limitAddresses(scope, services, async (reply, request) => {
      const look = await lookFor(services, spokenBy(request));
      const wait = texts[look.language].problem.WAIT(Number(reply.getHeader('retry-after') ?? 1));
      return reply.headers(pageHeaders(look)).send(waitPage(look, urlOf(services, request), wait));
    });
    for (const page of pages) {
      scope.route({
        method: ['GET', 'POST'],
        url: `${root}${page.path}`,
        handler: (request, reply) => answer(services, page, request as Request, reply),
      });
    }
    mountSignIn(scope, services);
    mountSignOut(scope, services);
    // An address that was cut off, or is of another version of the service.
    scope.get(`${root}/*`, (_request, reply) => redirect(reply, `${services.baseUrl}${root}`));
  });
}

const redirect = (reply: FastifyReply, to: string) =>
  reply.header('cache-control', 'no-store').redirect(to, 303);

const findSession = (services: Services, { headers }: FastifyRequest) =>
  findPagesViewer(services, cookieOf(services, sessionCookie, headers.cookie));

function mountSignIn(scope: FastifyInstance, services: Services): void {
  const { baseUrl } = services;
  scope.get(`${root}/sign-in`, async (request, reply) => {
    const { to, at } = (request as Request).query;
    const path = pathToReturnTo(services, to);
    // Cookies belong to a host, and the way back leads to that of BASE_URL. Once: a proxy may change the host.
    if (request.host !== new URL(baseUrl).host && at === undefined) {
      const there = new URLSearchParams({ to: path, at: 'home' });
      return redirect(reply, `${baseUrl}${root}/sign-in?${there}`);
    }
    if (await findSession(services, request)) return redirect(reply, `${baseUrl}${path}`);
    const begun = beginOwnSignIn(services, accountApplication, path);
    reply.header('set-cookie', signIns.begin(services, request.headers.cookie, begun));
    return redirect(reply, begun.url);
  });

  scope.get(`${root}/callback`, async (request, reply) => {
    const { query, headers } = request as Request;
    const [state, code, iss] = [one(query['state']), one(query['code']), one(query['iss'])];
    const sealed = signIns.find(services, headers.cookie, state);
    const finished =
      sealed === undefined || query['error'] !== undefined
        ? undefined
        : await finishOwnSignIn(services, accountApplication, { state, code, iss, sealed });
    const cookies = sealed === undefined ? [] : [signIns.forget(services, state)];
    if (finished) {
      const value = sealSession(services, finished.redeemed);
      cookies.push(keptCookie(services, sessionCookie, value, pagesMaxSeconds));
      return redirect(reply.header('set-cookie', cookies), `${baseUrl}${finished.to}`);
    }
    if (cookies.length > 0) reply.header('set-cookie', cookies);
    // Back, or a reload, after the sign-in.
    if (await findSession(services, request)) return redirect(reply, `${baseUrl}${root}`);
    return sendPlain(services, request, reply.code(400), (t) => [t.failed, t.failedLead]);
  });
}

function mountSignOut(scope: FastifyInstance, services: Services): void {
  const { baseUrl } = services;
  scope.post(`${root}/sign-out`, async (request, reply) => {
    const viewer = await findSession(services, request);
    const form = (request as Request).body ?? new URLSearchParams();
    if (viewer) {
      const context = contextOf(services, request, viewer);
      if (!isOurs(context, request, form)) return redirect(reply, `${baseUrl}${root}`);
      const id = await findViewerSession(context);
      if (id !== undefined) await endViewerSession(context, { id });
    }
    reply.header('set-cookie', goneCookie(services, sessionCookie));
    return redirect(reply, `${baseUrl}${root}/signed-out`);
  });
  scope.get(`${root}/signed-out`, (request, reply) =>
    sendPlain(services, request, reply, (t) => [t.signedOut, t.signedOutLead]),
  );
  scope.get(`${root}/deleted`, (request, reply) =>
    sendPlain(services, request, reply, (t) => [t.deleted, t.deletedLead], false),
  );
}

/** A page for somebody without a session, with the way to begin one. */
async function sendPlain(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  wordsOf: (t: AccountTexts) => readonly [heading: string, lead: string],
  offersSignIn = true,
): Promise<FastifyReply> {
  const look = await lookFor(services, spokenBy(request));
  const t = accountTexts[look.language];
  const [heading, lead] = wordsOf(t);
  const way = `${services.baseUrl}${root}/sign-in`;
  const body = offersSignIn ? goOn(way, t.signIn) : goOn(services.baseUrl, t.ok);
  return reply.headers(pageHeaders(look)).send(pageOf({ heading, lead, body }, look));
}

const contextOf = (services: Services, request: FastifyRequest, viewer: Viewer): ViewerContext => ({
  ...services,
  actor: { type: 'USER', id: viewer.userId, clientId: accountApplicationId },
  traceId: request.id,
  viewer,
  visitor: visitorOf(request),
});

const tokenSubject = ({ viewer: { session } }: ViewerContext) => `account:${session}`;

/** Whether a form was sent from a page of this session. */
const isOurs = (context: ViewerContext, { headers }: FastifyRequest, form: URLSearchParams) =>
  isOwnOrigin(context, headers, { isRequired: false }) &&
  hasFormToken(context, tokenSubject(context), form);

async function openVisit(context: ViewerContext): Promise<AccountVisit> {
  const user = await readViewer(context);
  const settings = await readSignInExperience(context.database.prisma);
  const language = languageOf(context, settings);
  const look: Look = { branding: settings.branding, language };
  return {
    context,
    user,
    settings,
    look,
    texts: accountTexts[language],
    common: texts[language],
    base: `${context.baseUrl}${root}`,
    csrfToken: formTokenOf(context, tokenSubject(context)),
  };
}

async function answer(
  services: Services,
  page: AccountPage,
  request: Request,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const viewer = await findSession(services, request);
  // A form that was open for too long leads on too: after the sign-in to its page.
  if (!viewer) return toSignIn(services, request, reply);
  const context = contextOf(services, request, viewer);
  const query = new URL(request.url, services.baseUrl).searchParams;
  try {
    const visit = await openVisit(context);
    const sent = { query, form: request.body ?? new URLSearchParams() };
    if (page.needsProof && (await readProof(context.database.prisma, context)) === null)
      return redirect(reply, `${visit.base}${pathToVerify(`${root}${page.path}`)}`);
    return request.method === 'POST'
      ? await submitForm(visit, page, sent, request, reply)
      : await send(visit, await page.show(visit, sent), reply);
  } catch (error) {
    if (error instanceof VerificationRequiredError) {
      return redirect(reply, `${services.baseUrl}${root}${pathToVerify(`${root}${page.path}`)}`);
    }
    // Something that a page shows was switched off meanwhile.
    if (error instanceof NotAllowedError)
      return redirect(reply, `${services.baseUrl}${root}?${refusedParameter}=yes`);
    const isGone = error instanceof GraphQLError && error.extensions['code'] === 'UNAUTHENTICATED';
    if (!isGone) throw error;
    return toSignIn(services, request, reply);
  }
}

function toSignIn(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const to = new URLSearchParams({ to: request.url });
  return redirect(reply, `${services.baseUrl}${root}/sign-in?${to}`);
}

async function submitForm(
  visit: AccountVisit,
  page: AccountPage,
  sent: AccountRequest,
  request: Request,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, texts: t, common, base } = visit;
  if (!page.submit) return redirect(reply, `${base}${page.path}`);
  if (!isOurs(context, request, sent.form)) {
    const problem = { status: 403, text: common.problem.FORM_EXPIRED };
    const anew = { ...sent, form: new URLSearchParams(), problem };
    return send(visit, await page.show(visit, anew), reply.code(403));
  }
  try {
    return await send(visit, await page.submit(visit, sent), reply);
  } catch (failure) {
    const wrong = page.wrong?.(visit, sent) ?? t.wrong;
    const problem =
      failure instanceof LastWayInError
        ? { status: 422, text: t.lastWayIn }
        : problemOf({ texts: common, context }, failure, wrong);
    if (!problem) throw failure;
    if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter);
    return send(visit, await page.show(visit, { ...sent, problem }), reply.code(problem.status));
  }
}

async function send(
  { context, base, look }: AccountVisit,
  result: AccountAnswer,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if ('goTo' in result) return redirect(reply, `${base}${result.goTo}`);
  if ('json' in result) return reply.header('cache-control', 'no-store').send(result.json);
  if ('goOutTo' in result) return redirect(reply, result.goOutTo);
  if ('leaveTo' in result) {
    reply.header('set-cookie', goneCookie(context, sessionCookie));
    return redirect(reply, `${base}${result.leaveTo}`);
  }
  return reply.headers(pageHeaders(look, result.script)).send(result.markup);
}

async function fail(
  services: Services,
  error: Error & { statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (isUnreachable(error)) {
    request.log.warn({ err: error }, 'the database cannot be reached');
    const look = lookWithoutDatabase(spokenBy(request));
    return reply
      .code(503)
      .headers({ ...pageHeaders(look), 'retry-after': String(retryAfterSeconds) })
      .send(unavailablePage(look, urlOf(services, request)));
  }
  const { statusCode = 500 } = error;
  if (statusCode >= 500) request.log.error({ err: error }, 'a request for the account failed');
  const look = await lookFor(services, spokenBy(request));
  return reply
    .code(statusCode)
    .headers(pageHeaders(look))
    .send(failedPage(look, urlOf(services, request), statusCode));
}
