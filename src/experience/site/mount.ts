import type { FastifyInstance, FastifyReply } from 'fastify';
import { InteractionExpiredError } from '../../errors.ts';
import { ElsewhereError } from '../../identity-providers/choice.ts';
import { cancelInteraction } from '../../oidc/provider/finish-interaction.ts';
import { getProvider } from '../../oidc/provider/provider.ts';
import type { Services } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { lookFor, spokenBy } from '../../web/look.ts';
import { sendPage } from '../../web/page.ts';
import { mountPasskeyScript } from '../../web/passkeys/script.ts';
import { type HttpExchange, mountSite } from '../../web/site.ts';
import { visitorOf } from '../../web/visitor.ts';
import { findBrowserInteraction, findByAddress } from '../access/browser.ts';
import { recoveryPage, signInCodePage } from '../pages/address.ts';
import { codePage, linkPage } from '../pages/code.ts';
import { consentPage } from '../pages/consent.ts';
import { chooseFactorPage } from '../pages/factors/enroll.ts';
import { newFactorPages } from '../pages/factors/new-factors.ts';
import { factorPage, otherAccountPage, verifyPages } from '../pages/factors/verify.ts';
import { federationPage, leaveFor, profilePage } from '../pages/federation.ts';
import { newPasswordPage } from '../pages/new-password.ts';
import { oneTimeLinkPage } from '../pages/one-time-link.ts';
import { passkeyPage } from '../pages/passkey.ts';
import { registerPage } from '../pages/register.ts';
import { reviewPage } from '../pages/review.ts';
import { signInPage } from '../pages/sign-in.ts';
import { mountCallback } from './callback.ts';
import { isDue, leadOn } from './next-page.ts';
import { brokenPage, linkElsewherePage } from './stopped.ts';
import { type InteractionPage, type InteractionVisit, openInteractionVisit } from './visit.ts';

const pages: readonly InteractionPage[] = [
  signInPage,
  oneTimeLinkPage,
  signInCodePage,
  recoveryPage,
  codePage,
  linkPage,
  registerPage,
  newPasswordPage,
  passkeyPage,
  federationPage,
  profilePage,
  factorPage,
  ...Object.values(verifyPages),
  otherAccountPage,
  chooseFactorPage,
  ...Object.values(newFactorPages),
  consentPage,
  reviewPage,
];

/** Mounts the sign-in pages at `/sign-in/:uid` and below. The `uid` names the authorization request. */
export async function mountPages(http: FastifyInstance, services: Services): Promise<void> {
  mountPasskeyScript(http);
  await mountSite<InteractionVisit, InteractionPage>(http, services, {
    root: '/sign-in/:uid',
    pages,
    // No step of an interaction is done twice.
    standsSeconds: 3600,
    mountOthers: (scope) => mountCallback(scope, services),
    open: (exchange) => open(services, exchange),
    async divert(visit, page, { form }) {
      if (form.has('cancel')) return { leaveTo: await cancel(visit) };
      return (await isDue(visit, page)) ? undefined : leadOn(visit);
    },
    async rescue(visit, failure) {
      return failure instanceof ElsewhereError
        ? leaveFor(visit, { email: failure.address })
        : undefined;
    },
    refuse: (failure, exchange, page) =>
      failure instanceof InteractionExpiredError
        ? refuse(services, failure, exchange, page)
        : undefined,
  });
}

const uidOf = ({ request }: HttpExchange): string => (request.params as { uid: string }).uid;

async function open(services: Services, exchange: HttpExchange): Promise<InteractionVisit> {
  const { request, reply } = exchange;
  const found = await findBrowserInteraction(services, request.raw, reply.raw);
  if (found instanceof InteractionExpiredError) throw found;
  if (found?.request.uid !== uidOf(exchange)) throw new InteractionExpiredError();
  const visitor = visitorOf(request, found.request.params['ui_locales']);
  const provider = getProvider(services);
  const findSignedIn = async () =>
    (await provider.Session.get(provider.createContext(request.raw, reply.raw))).accountId;
  return openInteractionVisit({ ...services, ...callOf(request), visitor }, found, findSignedIn);
}

async function cancel({ context, access, interaction }: InteractionVisit): Promise<string> {
  const returnTo = await cancelInteraction(getProvider(context), access.uid ?? '');
  if (returnTo === undefined) throw new InteractionExpiredError(interaction.restartUrl);
  return returnTo;
}

/** Tells a person how to continue when the browser has no such interaction, or it has ended. */
async function refuse(
  services: Services,
  expired: InteractionExpiredError,
  exchange: HttpExchange,
  page: InteractionPage,
): Promise<FastifyReply> {
  const { request, reply } = exchange;
  const known = await findByAddress(services, uidOf(exchange));
  const restartUrl = expired.restartUrl ?? known?.restartUrl ?? undefined;
  const uiLocales = restartUrl && new URL(restartUrl).searchParams.get('ui_locales');
  const look = await lookFor(services, { ...spokenBy(request), uiLocales });
  const code = new URL(request.url, services.baseUrl).searchParams.get('code');
  if (page === linkPage && known?.isUnderWay && code !== null && /^\d{6}$/.test(code))
    return sendPage(reply, look, linkElsewherePage(look, code));
  return sendPage(reply.code(404), look, brokenPage(services, look, restartUrl));
}
