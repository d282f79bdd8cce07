import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { redirect } from '../../web/site.ts';
import { type FirstPartyApp, rootOf } from './app.ts';
import {
  deleteSessionCookie,
  deleteSignInCookie,
  findSignIn,
  setSignInCookies,
} from './cookies.ts';
import {
  beginFirstPartySession,
  deleteFirstPartySession,
  signOut,
  useFirstPartySession,
} from './session.ts';
import { beginSignIn, finishSignIn, pathToReturnTo } from './sign-in.ts';

type Query = Readonly<Record<string, string | string[] | undefined>>;
type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** What an app shows around its sign-in. */
export interface SignInPages {
  /** Says that a sign-in failed, or that the person has cancelled it. */
  readonly failed: (
    request: FastifyRequest,
    reply: FastifyReply,
    isCancelled: boolean,
  ) => Promise<FastifyReply>;
  readonly signedOut: Answer;
  /** Whether a page of the app asks for this sign-out, and no other site. */
  readonly maySignOut: (request: FastifyRequest) => Promise<boolean> | boolean;
  readonly signOutRefused: Answer;
}

const one = (value: Query[string]): string => (typeof value === 'string' ? value : '');

/** Mounts an app's `/sign-in`, `/callback`, `/sign-out` and `/signed-out`. */
export function mountSignIn(
  scope: FastifyInstance,
  services: Services,
  app: FirstPartyApp,
  pages: SignInPages,
): void {
  const root = rootOf(app);
  const base = `${services.baseUrl}${root}`;
  scope.get(`${root}/sign-in`, (request, reply) => begin(services, app, request, reply));
  scope.get(`${root}/callback`, (request, reply) => finish(services, app, pages, request, reply));
  scope.post(`${root}/sign-out`, async (request, reply) => {
    if (!(await pages.maySignOut(request))) return pages.signOutRefused(request, reply);
    await signOut({ ...services, ...callOf(request) }, app, request.headers.cookie);
    reply.header('set-cookie', deleteSessionCookie(services, app));
    return redirect(reply, `${base}/signed-out`);
  });
  scope.get(`${root}/signed-out`, pages.signedOut);
}

async function begin(
  services: Services,
  app: FirstPartyApp,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { baseUrl } = services;
  const { to, at } = request.query as Query;
  const cookies = request.headers.cookie;
  const path = pathToReturnTo(services, app, to);
  // Cookies belong to a host, and the way back leads to that of BASE_URL. Once: a proxy may change the host.
  if (request.host !== new URL(baseUrl).host && at === undefined) {
    const there = new URLSearchParams({ to: path, at: 'home' });
    return redirect(reply, `${baseUrl}${rootOf(app)}/sign-in?${there}`);
  }
  // Another tab has signed in: a new sign-in would end its session.
  if (await useFirstPartySession(services, app, { cookies }))
    return redirect(reply, `${baseUrl}${path}`);
  const begun = beginSignIn(services, app, path);
  reply.header('set-cookie', setSignInCookies(services, app, cookies, begun));
  return redirect(reply, begun.url);
}

async function finish(
  services: Services,
  app: FirstPartyApp,
  pages: SignInPages,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { baseUrl } = services;
  const query = request.query as Query;
  const [state, code, iss] = [one(query['state']), one(query['code']), one(query['iss'])];
  const { error } = query;
  const cookies = request.headers.cookie;
  const sealed = findSignIn(services, app, cookies, state);
  const finished =
    sealed === undefined || error !== undefined
      ? undefined
      : await finishSignIn(services, app, { state, code, iss, sealed });
  const changed = sealed === undefined ? [] : [deleteSignInCookie(services, app, state)];
  if (finished) {
    await deleteFirstPartySession(services, app, cookies);
    changed.push(await beginFirstPartySession(services, app, finished.signedIn));
  }
  if (changed.length > 0) reply.header('set-cookie', changed);
  if (finished) return redirect(reply, `${baseUrl}${finished.to}`);
  // Back, or a reload, after the sign-in.
  if (await useFirstPartySession(services, app, { cookies }))
    return redirect(reply, `${baseUrl}${rootOf(app)}`);
  const isCancelled = sealed !== undefined && error === 'access_denied';
  return pages.failed(request, reply.code(400), isCancelled);
}
