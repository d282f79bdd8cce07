import type { FastifyRequest } from 'fastify';
import type { Language } from '../../languages.ts';
import type { Services, VisitContext, Visitor } from '../../services.ts';
import { chooseLanguage } from '../../sign-in-experience/language.ts';
import type { SignInExperience } from '../../sign-in-experience/settings.ts';

/**
 * The visitor who sent a request.
 *
 * @param locales The application's `ui_locales`: tags separated by spaces, in order of preference.
 */
export const visitorOf = (request: FastifyRequest, locales?: unknown): Visitor => ({
  ip: request.ip,
  userAgent: request.headers['user-agent'] ?? null,
  cookies: request.headers.cookie,
  language: chooseLanguage(locales, request.headers['accept-language']),
});

/** The public URL of a request, to link back to its page. A proxy may have taken a path off it. */
export const urlOf = (
  { baseUrl }: Pick<Services, 'baseUrl'>,
  { url }: Pick<FastifyRequest, 'url'>,
): string => `${baseUrl}${url}`;

/** The language to use with a person: their own if it is supported. */
export const languageOf = (
  { visitor }: Pick<VisitContext, 'visitor'>,
  { defaultLanguage }: Pick<SignInExperience, 'defaultLanguage'>,
): Language => visitor.language ?? defaultLanguage;
