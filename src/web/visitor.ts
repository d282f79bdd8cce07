import type { FastifyRequest } from 'fastify';
import type { Services, Visitor } from '../services.ts';
import { chooseLanguage } from '../sign-in-experience/language.ts';
import { chosenLanguage } from './languages/choice.ts';

/**
 * The visitor who sent a request.
 *
 * @param locales The application's `ui_locales`: tags separated by spaces, in order of preference.
 */
export const visitorOf = (request: FastifyRequest, locales?: unknown): Visitor => ({
  cookies: request.headers.cookie,
  language:
    chosenLanguage(request.headers.cookie) ??
    chooseLanguage(locales, request.headers['accept-language']),
});

/** The public URL of a request, to link back to its page. A proxy may have taken a path off it. */
export const urlOf = (
  { baseUrl }: Pick<Services, 'baseUrl'>,
  { url }: Pick<FastifyRequest, 'url'>,
): string => `${baseUrl}${url}`;
