import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { maxBodyBytes } from '../../body-limits.ts';
import { isUnreachable } from '../../db/unreachable.ts';
import { InteractionExpiredError } from '../../errors.ts';
import { retryAfterSeconds } from '../../failures.ts';
import { lookFor, lookWithoutDatabase } from '../../html/look.ts';
import { pageHeaders, unavailablePage } from '../../html/page.ts';
import { ElsewhereError } from '../../identity-providers/choice.ts';
import { cancelInteraction } from '../../oidc/provider/finish-interaction.ts';
import { getProvider } from '../../oidc/provider/provider.ts';
import { limitAddresses } from '../../protection/addresses.ts';
import { deviceCookie } from '../../protection/device.ts';
import type { Services, VisitContext } from '../../services.ts';
import { findBrowserInteraction, findByAddress } from '../access/browser.ts';
import { hasFormToken } from '../access/form-token.ts';
import { isOwnOrigin } from '../access/own-origin.ts';
import { urlOf, visitorOf } from '../access/visitor.ts';
import { readInteraction } from '../interaction.ts';
import { brokenPage, failedPage, linkElsewherePage, waitPage } from '../pages/stopped.ts';
import { texts } from '../pages/texts.ts';
import { mountPasskeyScript } from '../passkeys/script.ts';
import { nextStepsOf } from '../steps.ts';
import { submitInteraction } from '../submit.ts';
import { newPasswordForm, registerForm } from './account.ts';
import { mountCallback } from './callback.ts';
import { codeForm, linkForm, recoveryForm, signInCodeForm } from './codes.ts';
import { consentForm } from './consent.ts';
import { backupCodesForm, chooseFactorForm, enrollAppForm } from './factors/enroll.ts';
import { enrollPasskeyForm, passkeyFactorForm } from './factors/passkey.ts';
import { appFactorForm, backupCodeForm, factorForm, otherAccountForm } from './factors/verify.ts';
import { federationForm, leaveFor, profileForm } from './federation.ts';
import type { Answer, FormPage, PageRequest } from './form-page.ts';
import { passkeyForm } from './passkey.ts';
import { problemOf } from './problem.ts';
import { oneTimeLinkForm, passwordForm } from './sign-in.ts';
import { openVisit, type Visit } from './visit.ts';

const pages: readonly FormPage[] = [
  passwordForm,
  oneTimeLinkForm,
  signInCodeForm,
  recoveryForm,
  codeForm,
  linkForm,
  registerForm,
  newPasswordForm,
  passkeyForm,
  federationForm,
  profileForm,
  factorForm,
  appFactorForm,
  backupCodeForm,
  otherAccountForm,
  chooseFactorForm,
  enrollAppForm,
  backupCodesForm,
  passkeyFactorForm,
  enrollPasskeyForm,
  consentForm,
];

type Request = FastifyRequest<{ Params: { uid: string }; Body: URLSearchParams | undefined }>;

/** Mounts the sign-in pages at `/sign-in/:uid` and below. The `uid` names the authorization request. */
export async function mountPages(http: FastifyInstance, services: Services): Promise<void> {
  mountPasskeyScript(http);
  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: maxBodyBytes.page },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    scope.setErrorHandler(async (error: { statusCode?: number }, request, reply) => {
      if (isUnreachable(error)) {
        request.log.warn({ err: error }, 'the database cannot be reached');
        const look = lookWithoutDatabase(spokenBy(request));
        return reply
          .code(503)
          .headers({ ...pageHeaders(look), 'retry-after': String(retryAfterSeconds) })
          .send(unavailablePage(look, urlOf(services, request)));
      }
      const { statusCode = 500 } = error;
      if (statusCode >= 500) request.log.error({ err: error }, 'a sign-in request failed');
      const look = await lookFor(services, spokenBy(request));
      return reply
        .code(statusCode)
        .headers(pageHeaders(look))
        .send(failedPage(look, urlOf(services, request), statusCode));
    });
    limitAddresses(scope, services, async (reply, request) => {
      const look = await lookFor(services, spokenBy(request));
      const seconds = Number(reply.getHeader('retry-after') ?? 1);
      const problem = texts[look.language].problem.WAIT(seconds);
      return reply
        .headers(pageHeaders(look))
        .send(waitPage(look, urlOf(services, request), problem));
    });
    mountCallback(scope, services);
    for (const page of pages) {
      scope.route({
        method: ['GET', 'POST'],
        url: `/sign-in/:uid${page.path}`,
        handler: (request, reply) => answer(services, page, request as Request, reply),
      });
    }
    // An address that was cut off, or is of another version of the service.
    scope.route({
      method: ['GET', 'POST'],
      url: '/sign-in/:uid/*',
      handler: (request, reply) =>
        redirect(
          reply,
          `${services.baseUrl}/sign-in/${encodeURIComponent((request as Request).params.uid)}`,
        ),
    });
  });
}

async function answer(services: Services, page: FormPage, request: Request, reply: FastifyReply) {
  const found = await findBrowserInteraction(services, request.raw, reply.raw);
  if (found === undefined || found instanceof Error || found.request.uid !== request.params.uid) {
    return refuse(services, page, request, reply, found instanceof Error ? found : undefined);
  }
  const visitor = visitorOf(request, found.request.params['ui_locales']);
  const context: VisitContext = { ...services, traceId: request.id, visitor };
  try {
    const visit = await openVisit(context, found);
    const query = new URL(request.url, services.baseUrl).searchParams;
    const form = request.body ?? new URLSearchParams();
    return await (request.method === 'POST'
      ? submitForm(visit, page, { query, form }, request, reply)
      : showPage(visit, page, { query, form }, reply));
  } catch (error) {
    if (!(error instanceof InteractionExpiredError)) throw error;
    return refuse(services, page, request, reply, error);
  }
}

async function showPage(visit: Visit, page: FormPage, shown: PageRequest, reply: FastifyReply) {
  if (!(await isDue(visit, page))) return send(visit, 'signed-in', reply);
  return send(visit, await page.show(visit, shown), reply);
}

async function submitForm(
  visit: Visit,
  page: FormPage,
  sent: PageRequest,
  { headers, params }: Request,
  reply: FastifyReply,
) {
  const { context, texts: t } = visit;
  const isOurs =
    isOwnOrigin(context, headers, { isRequired: false }) &&
    hasFormToken(context, params.uid, sent.form);
  if (!isOurs) {
    const problem = { status: 403, text: t.problem.FORM_EXPIRED };
    return send(visit, await page.show(visit, { ...sent, problem }), reply.code(403));
  }
  if (sent.form.has('cancel')) {
    const returnTo = await cancelInteraction(getProvider(context), params.uid);
    if (returnTo === undefined) throw new InteractionExpiredError(visit.interaction.restartUrl);
    return redirect(reply, returnTo);
  }
  if (!(await isDue(visit, page))) return send(visit, 'signed-in', reply);
  try {
    return await send(visit, await page.submit(visit, sent), reply);
  } catch (failure) {
    if (failure instanceof ElsewhereError)
      return send(visit, await leaveFor(visit, { email: failure.address }), reply);
    const problem = problemOf(visit, failure, page.wrong(t));
    if (!problem) throw failure;
    if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter);
    return send(visit, await page.show(visit, { ...sent, problem }), reply.code(problem.status));
  }
}

/**
 * Whether this page is the person's turn. Once the person is known, only the pages of the next steps are: the browser
 * may be back at an earlier one by Back, a reload or a second tab.
 */
async function isDue(visit: Visit, { step, isOpen }: FormPage) {
  const { context, interaction, settings } = visit;
  if (interaction.userId === null) return step === undefined;
  if (isOpen?.(visit)) return true;
  return step !== undefined && (await nextStepsOf(context, interaction, settings)).includes(step);
}

/** The page of the next step of a person who is known; undefined if nothing is missing. */
async function findNextPage({ context, access, settings }: Visit): Promise<FormPage | undefined> {
  const interaction = await readInteraction(context, access);
  if (interaction.userId === null) return passwordForm;
  const steps = await nextStepsOf(context, interaction, settings);
  return steps.flatMap((wanted) => pages.filter(({ step }) => step === wanted))[0];
}

async function send(visit: Visit, result: Answer, reply: FastifyReply) {
  const { context, access, look, base } = visit;
  if (result === 'signed-in') {
    const next = await findNextPage(visit);
    if (next) return redirect(reply, `${base}${next.path}`);
    const { redirectTo, userId } = await submitInteraction(context, access);
    reply.header('set-cookie', deviceCookie(context, context.visitor.cookies, userId));
    return redirect(reply, redirectTo);
  }
  if ('leaveTo' in result) return redirect(reply, result.leaveTo);
  if ('goTo' in result) return redirect(reply, `${base}${result.goTo}`);
  if ('json' in result) return reply.header('cache-control', 'no-store').send(result.json);
  return reply.headers(pageHeaders(look, result.script)).send(result.markup);
}

const redirect = (reply: FastifyReply, to: string) =>
  reply.header('cache-control', 'no-store').redirect(to, 303);

/** Tells a person how to continue when the browser has no such interaction, or it has ended. */
async function refuse(
  services: Services,
  page: FormPage,
  request: Request,
  reply: FastifyReply,
  expired: InteractionExpiredError | undefined,
) {
  const known = await findByAddress(services, request.params.uid);
  const restartUrl = expired?.restartUrl ?? known?.restartUrl ?? undefined;
  const uiLocales = restartUrl && new URL(restartUrl).searchParams.get('ui_locales');
  const look = await lookFor(services, { ...spokenBy(request), uiLocales });
  reply.headers(pageHeaders(look));
  const code = new URL(request.url, services.baseUrl).searchParams.get('code');
  if (page === linkForm && known?.isUnderWay && code !== null && /^\d{6}$/.test(code))
    return reply.send(linkElsewherePage(look, code));
  return reply.code(404).send(brokenPage(services, look, restartUrl));
}

const spokenBy = ({ headers }: FastifyRequest) => ({ acceptLanguage: headers['accept-language'] });
