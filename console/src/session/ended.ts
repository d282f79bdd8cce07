import { servicePath } from '../service-url.ts';
import { createStore } from '../store.ts';

/** Whether the session has ended while the page was open. */
export const hasEnded = createStore(false);

/** Says that the session has ended: signed out elsewhere, suspended, a role taken away, or time. */
export const sessionEnded = (): void => hasEnded.set(true);

/** The address that signs in and comes back to where the page is now. */
export const signInAddress = (): string =>
  `${servicePath}/console/sign-in?to=${encodeURIComponent(
    location.pathname.slice(servicePath.length) + location.search,
  )}`;
