import type { FastifyReply, FastifyRequest } from 'fastify';
import { failures } from '../failures.ts';
import type { Language } from '../languages.ts';
import { html } from '../markup.ts';
import { lookWithoutDatabase, spokenBy } from '../web/look.ts';
import { sendPage } from '../web/page.ts';
import { sendProblem } from './problem.ts';

/** Why no route matches a request. */
export type Unrouted = 'UNKNOWN_ROUTE' | 'BAD_USER_INPUT' | 'URI_TOO_LONG';

const texts = {
  en: {
    UNKNOWN_ROUTE: 'There is nothing at this address',
    BAD_USER_INPUT: 'This address is malformed',
    URI_TOO_LONG: 'This address is too long',
  },
  de: {
    UNKNOWN_ROUTE: 'Unter dieser Adresse gibt es nichts',
    BAD_USER_INPUT: 'Diese Adresse ist nicht lesbar',
    URI_TOO_LONG: 'Diese Adresse ist zu lang',
  },
} as const satisfies Record<Language, Record<Unrouted, string>>;

/**
 * Answers a request that no route matches, in the format of its path: an OAuth error, a page for a browser, or a
 * problem document. No answer repeats the address.
 */
export function refuseUnrouted(
  code: Unrouted,
  { url, headers }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status } = failures[code];
  const detail = `${texts.en[code]}.`;
  // A request that did not come as far as the routes has no headers of theirs.
  reply.header('x-content-type-options', 'nosniff').header('cache-control', 'no-store');
  if (/^\/api(?:[/?]|$)/.test(url)) return sendProblem(reply, { code, detail });
  if (headers.accept?.includes('text/html')) {
    const look = lookWithoutDatabase(spokenBy({ headers }));
    const heading = texts[look.language][code];
    return sendPage(reply.code(status), look, { heading, body: html`` });
  }
  return /^\/oidc(?:[/?]|$)/.test(url)
    ? reply.code(status).send({ error: 'invalid_request', error_description: detail })
    : sendProblem(reply, { code, detail });
}
