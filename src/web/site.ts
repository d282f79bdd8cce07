import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { maxBodyBytes } from '../body-limits.ts';
import type { Services } from '../services.ts';
import { answerFailures } from './failures.ts';
import { isOwnForm } from './form-token.ts';
import { takeLanguages } from './languages/choice.ts';
import { type Content, sendPage } from './page.ts';
import { type Problem, problemOf } from './problem.ts';
import { answerOnce, type Redirection } from './sent-forms/answer-once.ts';
import type { Visit } from './visit.ts';

/** A browser's request for a page. */
export interface PageRequest {
  readonly query: URLSearchParams;
  /** Empty unless the browser submitted the form. */
  readonly form: URLSearchParams;
  /** The problem with the submitted form, which is then shown again. */
  readonly problem?: Problem;
}

/** The answer to a request: a page, data for its script, or a redirect. */
export type Answer = Content | { readonly json: object } | Redirection;

/** One page of a site: what it shows, and what its form does. */
export interface Page<V extends Visit = Visit> {
  /** A path below the site's first page, whose own path is empty. */
  readonly path: string;
  /** The text for a failed verification; absent: the usual one. */
  readonly wrong?: (visit: V, request: PageRequest) => string;
  readonly show: (visit: V, request: PageRequest) => Answer | Promise<Answer>;
  /** What the form does; absent if the page has none. Its refusals are shown on the page (see `problemOf`). */
  readonly submit?: (visit: V, request: PageRequest) => Promise<Answer>;
}

/** A request to a page, as Fastify knows it. */
export interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Pages that belong together, and how their visitors are known. */
export interface Site<V extends Visit, P extends Page<V>> {
  /** The route of the first page. */
  readonly root: string;
  readonly pages: readonly P[];
  /** How long a form that is sent twice is answered as it was the first time, in seconds. See `answerOnce`. */
  readonly standsSeconds: number;
  /** Finds out who visits. What it throws goes to `refuse`. */
  readonly open: (exchange: HttpExchange, page: P) => Promise<V>;
  /** Answers in place of the page; undefined to let the page answer. A forged form does not get here. */
  readonly divert?: (visit: V, page: P, request: PageRequest) => Promise<Answer | undefined>;
  /** The problem that a page shows for a refusal of this site alone; undefined for the usual one. */
  readonly explain?: (visit: V, failure: unknown) => Problem | undefined;
  /** Answers a refused form other than by showing its page again. */
  readonly rescue?: (visit: V, failure: unknown) => Promise<Answer | undefined>;
  /** Answers what no page can explain, such as the end of a session; undefined for a fault. */
  readonly refuse: (
    failure: unknown,
    exchange: HttpExchange,
    page: P,
  ) => FastifyReply | Promise<FastifyReply> | undefined;
  /** Adds routes that are no pages. Their forms are read, and their failures answered, like those of the pages. */
  readonly mountOthers?: (scope: FastifyInstance) => void;
}

type Request = FastifyRequest<{ Body: URLSearchParams | undefined }>;

/** Mounts the pages of a site. */
export async function mountSite<V extends Visit, P extends Page<V>>(
  http: FastifyInstance,
  services: Services,
  site: Site<V, P>,
): Promise<void> {
  const { root, pages } = site;
  await http.register(async (scope) => {
    readForms(scope);
    answerFailures(scope, services);
    takeLanguages(scope, services);
    site.mountOthers?.(scope);
    for (const page of pages) {
      scope.route({
        method: ['GET', 'POST'],
        url: `${root}${page.path}`,
        handler: (request, reply) => answer(services, site, page, request as Request, reply),
      });
    }
    // An address that was cut off, or is of another version of the service.
    const depth = root.split('/').length;
    scope.route({
      method: ['GET', 'POST'],
      url: `${root}/*`,
      handler: ({ url }, reply) =>
        redirect(reply, `${services.baseUrl}${url.split('/').slice(0, depth).join('/')}`),
    });
  });
}

/** Lets a scope take forms, and nothing else. The body is then an URLSearchParams. */
export function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: maxBodyBytes.page },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
}

/** Redirects a browser, which then loads the URL by GET. */
export const redirect = (reply: FastifyReply, to: string): FastifyReply =>
  reply.header('cache-control', 'no-store').redirect(to, 303);

async function answer<V extends Visit, P extends Page<V>>(
  services: Services,
  site: Site<V, P>,
  page: P,
  request: Request,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const sent = {
    query: new URL(request.url, services.baseUrl).searchParams,
    form: request.body ?? new URLSearchParams(),
  };
  try {
    const visit = await site.open({ request, reply }, page);
    if (request.method === 'POST') return await submitForm(site, visit, page, sent, request, reply);
    const shown = (await site.divert?.(visit, page, sent)) ?? (await page.show(visit, sent));
    return send(visit, shown, reply);
  } catch (error) {
    const refused = site.refuse(error, { request, reply }, page);
    if (!refused) throw error;
    return refused;
  }
}

async function submitForm<V extends Visit, P extends Page<V>>(
  site: Site<V, P>,
  visit: V,
  page: P,
  sent: PageRequest,
  { headers, url }: Request,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, texts: t } = visit;
  const showAgain = async (request: PageRequest, problem: Problem) => {
    const { status, text, retryAfter } = problem;
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
    const shown = await page.show(visit, { ...request, problem });
    return send(visit, 'body' in shown ? { problem: text, ...shown } : shown, reply.code(status));
  };
  if (!page.submit) return send(visit, { goTo: page.path }, reply);
  if (!isOwnForm(context, headers, sent.form, visit.formSubject)) {
    // Without what the form brought: another site may have filled it in.
    const anew = { ...sent, form: new URLSearchParams() };
    return showAgain(anew, { status: 403, text: t.problem.FORM_EXPIRED });
  }
  const { submit } = page;
  const given = {
    subject: visit.formSubject,
    target: url,
    values: sent.form,
    standsSeconds: site.standsSeconds,
  };
  try {
    const done = await answerOnce(
      context,
      given,
      async () => (await site.divert?.(visit, page, sent)) ?? (await submit(visit, sent)),
    );
    return send(visit, done, reply);
  } catch (failure) {
    const rescued = await site.rescue?.(visit, failure);
    if (rescued) return send(visit, rescued, reply);
    const wrong = page.wrong?.(visit, sent) ?? t.wrongInput;
    const problem = site.explain?.(visit, failure) ?? problemOf(visit, failure, wrong);
    if (!problem) throw failure;
    return showAgain(sent, problem);
  }
}

/** The query of a page that can be loaded again; undefined for the result of a form, which may be shown only once. */
function queryOf({ request }: FastifyReply, { problem }: Content): string | undefined {
  if (request.method !== 'GET' && problem === undefined) return undefined;
  const [, ...query] = request.url.split('?');
  return query.join('?');
}

function send({ base, look }: Visit, result: Answer, reply: FastifyReply): FastifyReply {
  if ('body' in result) return sendPage(reply, look, result, queryOf(reply, result));
  if ('json' in result) return reply.header('cache-control', 'no-store').send(result.json);
  if (result.cookies !== undefined) reply.header('set-cookie', result.cookies);
  return redirect(reply, 'goTo' in result ? `${base}${result.goTo}` : result.leaveTo);
}
