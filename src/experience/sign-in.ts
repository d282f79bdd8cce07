import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errors, type Interaction } from 'oidc-provider';
import type { Services } from '../auth/context.ts';
import { toNumericDate } from '../clock.ts';
import { pageHeaders } from '../html/page.ts';
import { getProvider } from '../oidc/provider.ts';
import { findByCredentials } from './credentials.ts';
import { brokenSignInPage, signInPage } from './sign-in-page.ts';

const maxBodyBytes = 16 * 1024;

type Request = FastifyRequest<{ Params: { uid: string }; Body: URLSearchParams | undefined }>;

/** Mounts the sign-in page, `/sign-in/:uid`, where `uid` names the authorization request it belongs to. */
export async function registerSignIn(http: FastifyInstance, services: Services): Promise<void> {
  const { cipher, baseUrl, clock } = services;
  const csrfKey = cipher.deriveKey('sign-in-form');
  const csrfTokenOf = (uid: string) =>
    createHmac('sha256', csrfKey).update(uid).digest('base64url');
  const origin = new URL(baseUrl).origin;

  /** The authorization request that this browser began, and this page is for. */
  async function findInteraction({ raw, params }: Request, reply: FastifyReply) {
    try {
      const interaction = await getProvider(services).interactionDetails(raw, reply.raw);
      return interaction.uid === params.uid ? interaction : undefined;
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    }
  }

  const refuse = (reply: FastifyReply, status: number) =>
    reply.code(status).headers(pageHeaders).send(brokenSignInPage());

  async function show(
    reply: FastifyReply,
    interaction: Interaction,
    { identifier, hasFailed }: { identifier: string; hasFailed: boolean },
  ) {
    const client = await getProvider(services).Client.find(String(interaction.params['client_id']));
    if (!client) return refuse(reply, 404);
    return reply
      .code(hasFailed ? 422 : 200)
      .headers(pageHeaders)
      .send(
        signInPage({
          action: `${baseUrl}/sign-in/${interaction.uid}`,
          application: client.clientName ?? client.clientId,
          csrfToken: csrfTokenOf(interaction.uid),
          identifier,
          hasFailed,
        }),
      );
  }

  /**
   * Whether the form is this page's own. The interaction's cookie, which the browser sends to this address alone, and
   * the token in the form prove it; what the browser says of where the form was is looked at besides.
   */
  function isOwnForm(request: Request, interaction: Interaction, form: URLSearchParams): boolean {
    const { 'sec-fetch-site': site, origin: sentOrigin } = request.headers;
    if (
      site !== undefined
        ? site !== 'same-origin'
        : sentOrigin !== undefined && sentOrigin !== origin
    ) {
      return false;
    }
    const sent = Buffer.from(form.get('csrf') ?? '');
    const expected = Buffer.from(csrfTokenOf(interaction.uid));
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  }

  async function finish(
    request: Request,
    reply: FastifyReply,
    result: Parameters<ReturnType<typeof getProvider>['interactionResult']>[2],
  ) {
    const provider = getProvider(services);
    const returnTo = await provider.interactionResult(request.raw, reply.raw, result);
    return reply.header('cache-control', 'no-store').redirect(returnTo, 303);
  }

  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: maxBodyBytes },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    scope.setErrorHandler((error: { statusCode?: number }, request, reply) => {
      const { statusCode = 500 } = error;
      if (statusCode >= 500) request.log.error({ err: error }, 'a sign-in request failed');
      return refuse(reply, statusCode);
    });

    scope.get('/sign-in/:uid', async (request: Request, reply) => {
      const interaction = await findInteraction(request, reply);
      if (!interaction) return refuse(reply, 404);
      const hint = interaction.params['login_hint'];
      return show(reply, interaction, {
        identifier: typeof hint === 'string' ? hint : '',
        hasFailed: false,
      });
    });

    scope.post('/sign-in/:uid', async (request: Request, reply) => {
      const interaction = await findInteraction(request, reply);
      if (!interaction) return refuse(reply, 404);
      const form = request.body ?? new URLSearchParams();
      if (!isOwnForm(request, interaction, form)) return refuse(reply, 403);
      if (form.has('cancel')) {
        return finish(request, reply, {
          error: 'access_denied',
          error_description: 'the sign-in was cancelled',
        });
      }
      const identifier = form.get('identifier') ?? '';
      const user = await findByCredentials(services, identifier, form.get('password') ?? '');
      if (!user) return show(reply, interaction, { identifier, hasFailed: true });
      return finish(request, reply, {
        login: { accountId: user.id, ts: toNumericDate(clock.now()), amr: ['pwd'] },
      });
    });
  });
}
