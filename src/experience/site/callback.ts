import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InteractionExpiredError, VerificationFailedError } from '../../errors.ts';
import type { Federation } from '../../generated/prisma/client.ts';
import { FederationFailure } from '../../identity-providers/authorization.ts';
import { findFederation, hasArrived } from '../../identity-providers/federation.ts';
import { getProvider } from '../../oidc/provider/provider.ts';
import type { Services, VisitContext } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { lookFor, spokenBy } from '../../web/look.ts';
import { isOwnOrigin } from '../../web/own-origin.ts';
import { sendPage } from '../../web/page.ts';
import { redirect } from '../../web/site.ts';
import { visitorOf } from '../../web/visitor.ts';
import { reportFailure } from '../federation/failure.ts';
import { confirmReturn, receiveReturn } from '../federation/finish.ts';
import { headlessPrefix } from '../federation/start.ts';
import { finishViewerFederation, proofPrefix, viewerPrefix } from '../federation/viewer.ts';
import type { Interaction } from '../interaction.ts';
import { texts } from '../texts.ts';
import { brokenPage, confirmPage, returnedPage } from './stopped.ts';

const path = '/sign-in/callback';

/**
 * Mounts the redirect URIs of the identity providers, and the one that all providers shared in earlier versions.
 * Refuses an answer that arrives at another one than its request named. No later page checks this: browsers get there
 * only through here, because providers send codes only to registered URIs.
 *
 * The first part of `state` tells who is coming back. For a browser it is the id of its interaction, whose pages alone
 * get the cookie: the browser is sent on to them.
 */
export function mountCallback(http: FastifyInstance, services: Services): void {
  http.get<{ Params: { provider?: string } }>(`${path}/:provider?`, async (request, reply) => {
    const query = new URL(request.url, services.baseUrl).searchParams;
    const [, owner] = /^([\w-]{1,64})\.[\w-]{43}$/.exec(query.get('state') ?? '') ?? [];
    if (owner === undefined) return refuse(services, request, reply);
    const begun = await findFederation(services, query);
    if (begun && !hasArrived(services, begun, request.params.provider)) {
      const failure = new FederationFailure('the answer came to the redirect URI of another one');
      reportFailure(services, failure, begun.identityProviderId);
      return refuse(services, request, reply);
    }
    if (owner === headlessPrefix) return receive(services, query, request, reply);
    if (owner === viewerPrefix) return link(services, begun, query, request, reply);
    const path = owner === proofPrefix ? '/account/proof' : `/sign-in/${owner}/federation`;
    return redirect(reply, `${services.baseUrl}${path}?${query}`);
  });
  http.post(path, (request, reply) => confirm(services, request, reply));
}

const contextOf = (services: Services, request: FastifyRequest): VisitContext => ({
  ...services,
  ...callOf(request),
  visitor: visitorOf(request),
});

async function refuse(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const look = await lookFor(services, spokenBy(request));
  return sendPage(reply.code(404), look, brokenPage(services, look, undefined));
}

/** Receives a person whose sign-in is in another program. */
async function receive(
  services: Services,
  query: URLSearchParams,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  try {
    const returned = await receiveReturn(contextOf(services, request), query);
    if (!returned) return await refuse(services, request, reply);
    const { interaction, confirmation } = returned;
    return confirmation === null
      ? await sendBack(services, interaction, request, reply)
      : await askToConfirm(services, interaction, confirmation, request, reply);
  } catch (error) {
    if (!(error instanceof InteractionExpiredError)) throw error;
    return refuse(services, request, reply);
  }
}

/** Asks whether the person began the sign-in in the other program. */
async function askToConfirm(
  services: Services,
  { newcomer, application }: Interaction,
  confirmation: string,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const provider = await services.database.prisma.identityProvider.findUnique({
    where: { id: newcomer?.identityProviderId ?? '' },
  });
  const look = await lookFor(services, spokenBy(request));
  const t = texts[look.language];
  const content = confirmPage(t, {
    action: `${services.baseUrl}${path}`,
    application: application.name,
    provider: provider?.name ?? '',
    person: newcomer?.email ?? newcomer?.name ?? null,
    confirmation,
  });
  return sendPage(reply, look, content);
}

async function confirm(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  if (!isOwnOrigin(services, request.headers, { isRequired: false }))
    return refuse(services, request, reply);
  try {
    const interaction = await confirmReturn(contextOf(services, request), {
      confirmation: form.get('confirmation') ?? '',
      isRefused: form.has('cancel'),
    });
    return await sendBack(services, interaction, request, reply);
  } catch (error) {
    if (!(error instanceof InteractionExpiredError || error instanceof VerificationFailedError))
      throw error;
    return refuse(services, request, reply);
  }
}

/** Says that the sign-in continues in the program where the person began. */
async function sendBack(
  services: Services,
  { error, newcomer, identifier, application }: Interaction,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const look = await lookFor(services, spokenBy(request));
  const t = texts[look.language];
  const problem = error === null ? undefined : t.federation[error]?.(newcomer?.email ?? identifier);
  const text = t.returned.doneLead(application.name);
  return sendPage(reply, look, returnedPage(t.returned.done, text, { problem }));
}

/** Links an identity to the account of a user who is signed in. */
async function link(
  services: Services,
  begun: Federation | null,
  query: URLSearchParams,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const look = await lookFor(services, spokenBy(request));
  const t = texts[look.language];
  const next = { url: `${services.baseUrl}/account`, text: t.returned.toAccount };
  const send = (heading: string, text: string, problem?: string) =>
    sendPage(reply, look, returnedPage(heading, text, { problem, next }));
  const refuseWith = (problem: string | undefined) => {
    reply.code(422);
    return send(t.returned.notLinked, '', problem);
  };
  const provider = getProvider(services);
  const session = await provider.Session.get(provider.createContext(request.raw, reply.raw));
  const owner = begun?.userId;
  // Nothing is used up: the user can sign in, and load the page again.
  if (session.accountId === undefined || (owner != null && owner !== session.accountId))
    return refuseWith(t.returned.signInFirst);
  const linked = await finishViewerFederation(
    { ...services, ...callOf(request) },
    { userId: session.accountId, language: visitorOf(request).language },
    query,
  );
  if (!('error' in linked))
    return send(t.returned.linked(linked.providerName), t.returned.linkedLead);
  if (linked.error !== 'federation_expired') return refuseWith(t.federation[linked.error]?.(null));
  // The link may exist: the browser may have lost the answer to an earlier request.
  reply.code(422);
  return send(t.returned.over, t.returned.overLead);
}
