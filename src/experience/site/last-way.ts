import { cookieIn, keptCookie } from '../../protection/cookie.ts';
import type { Answer } from '../../web/site.ts';
import type { InteractionVisit } from './visit.ts';

/** The cookie with the way in which somebody signed in last in a browser: no secret. */
export const lastWayCookie = 'signet_way';

const pattern = /^(?:password|code|passkey|idp_[0-9a-z]{26})$/;

/** The way in which somebody signed in last in this browser, or the id of an identity provider; undefined if nobody did. */
export function lastWay({ context }: InteractionVisit): string | undefined {
  const way = cookieIn(context.visitor.cookies, lastWayCookie) ?? '';
  return pattern.test(way) ? way : undefined;
}

/** An answer that leads on, and lets the browser remember the way that led there. Others stay as they are. */
export function withWay({ context }: InteractionVisit, answer: Answer, way: string): Answer {
  if (!('goTo' in answer || 'leaveTo' in answer) || !pattern.test(way)) return answer;
  return {
    ...answer,
    cookies: [...(answer.cookies ?? []), keptCookie(context, lastWayCookie, way)],
  };
}
