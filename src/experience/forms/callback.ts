import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InteractionExpiredError, VerificationFailedError } from '../../errors.ts';
import { lookFor } from '../../html/look.ts';
import { type Look, pageHeaders } from '../../html/page.ts';
import { findFederation } from '../../identity-providers/federation.ts';
import { getProvider } from '../../oidc/provider/provider.ts';
import type { Services, VisitContext } from '../../services.ts';
import { isOwnOrigin } from '../access/own-origin.ts';
import { visitorOf } from '../access/visitor.ts';
import { confirmReturn, receiveReturn } from '../federation/finish.ts';
import { headlessPrefix } from '../federation/start.ts';
import { finishViewerFederation, proofPrefix, viewerPrefix } from '../federation/viewer.ts';
import type { Interaction } from '../interaction.ts';
import { confirmPage, returnedPage } from '../pages/federation.ts';
import { brokenPage } from '../pages/stopped.ts';
import { texts } from '../pages/texts.ts';

const path = '/sign-in/callback';

/**
 * Mounts the redirect URI of every identity provider. The first part of `state` tells who is coming back. For a browser
 * it is the id of its interaction, whose pages alone get the cookie: the browser is sent on to them.
 */
export function mountCallback(http: FastifyInstance, services: Services): void {
  http.get(path, async (request, reply) => {
    const query = new URL(request.url, services.baseUrl).searchParams;
    const [, owner] = /^([\w-]{1,64})\.[\w-]{43}$/.exec(query.get('state') ?? '') ?? [];
    if (owner === undefined) return refuse(services, request, reply);
    if (owner === headlessPrefix) return receive(services, query, request, reply);
    if (owner === viewerPrefix) return link(services, query, request, reply);
    const path = owner === proofPrefix ? '/account/proof' : `/sign-in/${owner}/federation`;
    return reply
      .header('cache-control', 'no-store')
      .redirect(`${services.baseUrl}${path}?${query}`, 303);
  });
  http.post(path, (request, reply) => confirm(services, request, reply));
}

const lookOf = (services: Services, { headers }: FastifyRequest): Promise<Look> =>
  lookFor(services, { acceptLanguage: headers['accept-language'] });

const contextOf = (services: Services, request: FastifyRequest): VisitContext => ({
  ...services,
  traceId: request.id,
  visitor: visitorOf(request),
});

async function refuse(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const look = await lookOf(services, request);
  return reply
    .code(404)
    .headers(pageHeaders(look))
    .send(brokenPage(services, look, undefined));
}

/** A person came back for a program that holds the interaction. */
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
    if (confirmation === null) return await goBack(services, interaction, request, reply);
    const { newcomer, application } = interaction;
    const provider = await services.database.prisma.identityProvider.findUnique({
      where: { id: newcomer?.identityProviderId ?? '' },
    });
    const look = await lookOf(services, request);
    return await reply.headers(pageHeaders(look)).send(
      confirmPage({
        look,
        action: `${services.baseUrl}${path}`,
        application: application.name,
        provider: provider?.name ?? '',
        person: newcomer?.email ?? newcomer?.name ?? null,
        confirmation,
      }),
    );
  } catch (error) {
    if (!(error instanceof InteractionExpiredError)) throw error;
    return refuse(services, request, reply);
  }
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
    return await goBack(services, interaction, request, reply);
  } catch (error) {
    if (!(error instanceof InteractionExpiredError || error instanceof VerificationFailedError))
      throw error;
    return refuse(services, request, reply);
  }
}

/** Tells a person that the program where they began goes on. */
async function goBack(
  services: Services,
  { error, newcomer, application }: Interaction,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const look = await lookOf(services, request);
  const t = texts[look.language];
  return reply.headers(pageHeaders(look)).send(
    returnedPage(look, {
      heading: t.returned.done,
      problem: error === null ? undefined : t.federation[error]?.(newcomer?.email ?? null),
      text: t.returned.doneLead(application.name),
    }),
  );
}

/** A user who has signed in came back, to link an identity. */
async function link(
  services: Services,
  query: URLSearchParams,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const look = await lookOf(services, request);
  const t = texts[look.language];
  const next = { url: `${services.baseUrl}/account`, text: t.returned.toAccount };
  const refuseWith = (shown: Parameters<typeof returnedPage>[1]) =>
    reply
      .code(422)
      .headers(pageHeaders(look))
      .send(returnedPage(look, shown, next));
  const notLinked = (problem: string | undefined) =>
    refuseWith({ heading: t.returned.notLinked, problem, text: '' });
  const provider = getProvider(services);
  const session = await provider.Session.get(provider.createContext(request.raw, reply.raw));
  const owner = (await findFederation(services, query))?.userId;
  // Nothing is used up: the user can sign in, and load the page again.
  if (session.accountId === undefined || (owner != null && owner !== session.accountId))
    return notLinked(t.returned.signInFirst);
  const linked = await finishViewerFederation(
    { ...services, traceId: request.id },
    { userId: session.accountId, language: visitorOf(request).language },
    query,
  );
  // The request that linked it may have been answered to nobody.
  if ('error' in linked && linked.error === 'federation_expired')
    return refuseWith({ heading: t.returned.over, text: t.returned.overLead });
  if ('error' in linked) return notLinked(t.federation[linked.error]?.(null));
  return reply
    .headers(pageHeaders(look))
    .send(
      returnedPage(
        look,
        { heading: t.returned.linked(linked.providerName), text: t.returned.linkedLead },
        next,
      ),
    );
}
