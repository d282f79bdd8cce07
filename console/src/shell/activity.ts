import { fetchInSession } from '../kit/api/send.ts';
import { servicePath } from '../kit/service-url.ts';
import { hasEnded } from '../kit/session/ended.ts';
import { noteActivity } from '../kit/session/idle.ts';

/** How often activity without requests, such as scrolling, is reported to the service. */
const reportEveryMs = 5 * 60_000;

const signs = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const;

/** Keeps the session alive while the person is active in this tab. */
export function keepSession(): () => void {
  let reportedAt = Date.now();
  const onActivity = () => {
    noteActivity();
    if (Date.now() - reportedAt < reportEveryMs || hasEnded.get()) return;
    reportedAt = Date.now();
    // Without a network, later activity reports it.
    fetchInSession(`${servicePath}/console/session`).catch(() => undefined);
  };
  for (const sign of signs) addEventListener(sign, onActivity, { capture: true, passive: true });
  return () => {
    for (const sign of signs) removeEventListener(sign, onActivity, { capture: true });
  };
}
