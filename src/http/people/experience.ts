import type { FastifyInstance } from 'fastify';
import { maxBodyBytes } from '../../body-limits.ts';
import { findBrowserInteraction } from '../../experience/access/browser.ts';
import { findTokenInteraction } from '../../experience/access/headless-token.ts';
import type { Visit } from '../../graphql/context.ts';
import { requestError } from '../../graphql/request-error.ts';
import { limitAddresses } from '../../protection/addresses.ts';
import { experienceSchema } from '../../schema.ts';
import { type Services, systemActor } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { isOwnOrigin } from '../../web/own-origin.ts';
import { answerStepOnce } from '../../web/sent-forms/steps.ts';
import { visitorOf } from '../../web/visitor.ts';
import { type AskedRequest, mountJsonPost, refuseAddress } from './json-post.ts';

/**
 * Finds the sender of a request: by the token of an interaction, or by a browser's cookie if the request can only come
 * from a page of this service.
 *
 * @throws FORBIDDEN for a cookie from another origin; UNAUTHENTICATED for an unknown token.
 */
async function openVisit(
  services: Services,
  { asked: request, reply, cookies }: AskedRequest,
): Promise<Omit<Visit, 'once'>> {
  const { authorization } = request.headers;
  const keepCookie = (cookie: string) => void cookies.push(cookie);
  if (authorization !== undefined) {
    const access = await findTokenInteraction(services, authorization);
    if (!access) {
      throw requestError('UNAUTHENTICATED', 'The interaction token is refused.');
    }
    // A program sends no cookies, and here they would prove nothing.
    const visitor = { ...visitorOf(request), cookies: undefined };
    return { visitor, access, keepCookie: () => undefined };
  }
  const isFromPage = request.headers['x-signet-experience'] === '1';
  if (!isFromPage)
    return { visitor: { ...visitorOf(request), cookies: undefined }, access: null, keepCookie };
  if (!isOwnOrigin(services, request.headers, { isRequired: true })) {
    throw requestError('FORBIDDEN', 'The cookie is taken from pages of this service alone.');
  }
  const found = await findBrowserInteraction(services, request.raw, reply.raw);
  if (found === undefined || found instanceof Error)
    return { visitor: visitorOf(request), access: found ?? null, keepCookie };
  const locales = found.request.params['ui_locales'];
  return { visitor: visitorOf(request, locales), access: found.access, keepCookie };
}

const withOnce = (services: Services, visit: Omit<Visit, 'once'>): Visit => ({
  ...visit,
  once: (step, work) =>
    visit.access === null || visit.access instanceof Error
      ? work()
      : answerStepOnce(services, visit.access, step, work),
});

/** Mounts the Experience API, for people who sign in. Pages of other origins must not take part in a sign-in. */
export async function mountExperience(http: FastifyInstance, services: Services): Promise<void> {
  await http.register(async (scope) => {
    limitAddresses(scope, services, refuseAddress);
    mountJsonPost(scope, services, {
      path: '/experience/graphql',
      schema: experienceSchema,
      maxBodyBytes: maxBodyBytes.experience,
      context: async (asked) => ({
        ...services,
        caller: null,
        actor: systemActor,
        ...callOf(asked.asked),
        visit: withOnce(services, await openVisit(services, asked)),
      }),
    });
  });
}
