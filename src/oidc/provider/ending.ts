import Provider from 'oidc-provider';
import { bySignet, type Origin } from '../../events/record.ts';
import { systemActor } from '../../services.ts';
import type { SessionEnd } from '../../users/sign-out.ts';
import { callOf } from '../../web/call.ts';
import { requestOf } from './requests.ts';

/**
 * The routes of a sign-out: the page of this service, or the revocation of tokens by an application where people sign
 * out.
 */
const signOuts: ReadonlySet<string | undefined> = new Set(['end_session_confirm', 'revocation']);

/** Why a session or tokens end, and who ends them. */
export interface Ending extends Omit<Origin, 'clock'> {
  readonly reason: SessionEnd;
  /** Whether the browser's session ends too, after its grants. */
  readonly endsSession: boolean;
}

/**
 * Why the library ends a session or tokens now. If nobody signs out, Signet ends them: a code or a refresh token was
 * used twice, or a sign-in failed at its end.
 */
export function endingOf(
  userId: string | null | undefined,
  clientId: string | null | undefined,
): Ending {
  const { ctx } = Provider;
  const route = ctx?.oidc.route;
  const isSignOut = signOuts.has(route);
  const person = { type: 'USER', id: userId ?? null, ...(clientId ? { clientId } : {}) } as const;
  return {
    reason: isSignOut ? 'SIGN_OUT' : 'ENDED',
    endsSession: route === 'end_session_confirm' && Boolean(ctx?.oidc.params?.['logout']),
    ...(ctx ? callOf(requestOf(ctx)) : bySignet),
    actor: isSignOut ? person : systemActor,
  };
}
