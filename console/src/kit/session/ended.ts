import { servicePath } from '../service-url.ts';
import { createStore } from '../store.ts';
import { fetchSession } from './session.ts';

/** Whether the session has ended while the page was open. */
export const hasEnded = createStore(false);

/** Reports that the session has ended: by signing out elsewhere, suspension, a removed role, or time. */
export const sessionEnded = (): void => hasEnded.set(true);

/**
 * Goes on once the same person has signed in again, in another tab.
 *
 * @returns Whether they have.
 */
export async function resume(userId: string): Promise<boolean> {
  const session = await fetchSession().catch(() => undefined);
  if (session?.user.id !== userId) return false;
  hasEnded.set(false);
  return true;
}

/** The address that signs in and returns to the current page. */
export const signInAddress = (): string =>
  `${servicePath}/console/sign-in?to=${encodeURIComponent(
    location.pathname.slice(servicePath.length) + location.search,
  )}`;
