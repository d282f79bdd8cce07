import { fetchInSession } from '../api/send.ts';
import { servicePath } from '../service-url.ts';
import { hasEnded } from './ended.ts';
import { noteSign } from './idle.ts';

/** The service is told so often of somebody who reads, scrolls and types, and asks for nothing. */
const tellEveryMs = 5 * 60_000;

const signs = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const;

/** Keeps the session as long as somebody works in this tab. */
export function keepSession(): () => void {
  let toldAt = Date.now();
  const onSign = () => {
    noteSign();
    if (Date.now() - toldAt < tellEveryMs || hasEnded.get()) return;
    toldAt = Date.now();
    // Without a network, a later sign tells it.
    fetchInSession(`${servicePath}/console/session`).catch(() => undefined);
  };
  for (const sign of signs) addEventListener(sign, onSign, { capture: true, passive: true });
  return () => {
    for (const sign of signs) removeEventListener(sign, onSign, { capture: true });
  };
}
