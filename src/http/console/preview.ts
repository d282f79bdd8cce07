import type { FastifyInstance } from 'fastify';
import { allows } from '../../auth/scopes.ts';
import { previews, sendPreview } from '../../experience/site/preview.ts';
import { languages } from '../../languages.ts';
import type { Services } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { urlOf, visitorOf } from '../../web/visitor.ts';
import { sessionOf } from './session.ts';

const pages = Object.keys(previews) as (keyof typeof previews)[];
const themes = ['light', 'dark'] as const;

const oneOf = <Value extends string>(values: readonly Value[], given: string | null) =>
  values.find((value) => value === given);

const parsed = (text: string | null): unknown => {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return {};
  }
};

/**
 * Mounts the preview of the sign-in pages: the pages themselves, with settings that are not saved, for a frame of the
 * console. It is for whoever may read these settings, and no request extends the session: the console asks by itself.
 */
export function mountPreview(scope: FastifyInstance, services: Services): void {
  scope.get('/console/preview', async (request, reply) => {
    const headers = { ...request.headers, 'x-signet-idle': '1' };
    const session = await sessionOf(services, { headers });
    if (!session || !allows(session.scopes, 'experience:read'))
      return reply
        .code(session ? 403 : 401)
        .header('cache-control', 'no-store')
        .send(session ? 'This needs the scope experience:read.' : 'The session has ended.');
    const { searchParams: query } = new URL(urlOf(services, request));
    const language = oneOf(languages, query.get('language')) ?? 'en';
    return sendPreview(
      { ...services, ...callOf(request), visitor: { ...visitorOf(request), language } },
      reply,
      {
        page: oneOf(pages, query.get('page')) ?? 'sign-in',
        language,
        theme: oneOf(themes, query.get('theme')) ?? 'light',
        draft: parsed(query.get('settings')),
        application: (query.get('application') ?? '').slice(0, 64),
      },
    );
  });
}
