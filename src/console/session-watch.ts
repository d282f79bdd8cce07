import type { Services } from '../services.ts';
import { faultsOfSessions } from './session.ts';

/** Watches the sessions of connections that stay open. */
export interface SessionWatch {
  /**
   * Watches a session until it is over.
   *
   * @param onFault Called once, with the reason.
   * @returns Ends the watch.
   */
  watch(id: string, onFault: (fault: string) => void): () => void;
  stop(): Promise<void>;
}

/** Twice in the second within which a session has to end everywhere. */
const intervalMs = 500;

/** Starts to watch. The database is asked while there is something to watch, for all sessions at once. */
export function startSessionWatch(
  services: Pick<Services, 'clock' | 'database' | 'issuer' | 'log'>,
): SessionWatch {
  const watched = new Map<string, Set<(fault: string) => void>>();
  let underWay: Promise<void> | undefined;

  async function check(): Promise<void> {
    try {
      const faults = await faultsOfSessions(services, [...watched.keys()]);
      for (const [id, fault] of faults) {
        const listeners = watched.get(id) ?? [];
        watched.delete(id);
        for (const onFault of listeners) onFault(fault);
      }
    } catch (error) {
      services.log.warn({ err: error }, 'the sessions of the console could not be checked');
    }
  }

  const timer = setInterval(() => {
    if (watched.size === 0 || underWay) return;
    underWay = check().finally(() => {
      underWay = undefined;
    });
  }, intervalMs);
  return {
    watch(id, onFault) {
      const listeners = watched.get(id) ?? new Set();
      watched.set(id, listeners);
      const entry = (fault: string) => onFault(fault);
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
        if (listeners.size === 0 && watched.get(id) === listeners) watched.delete(id);
      };
    },
    async stop() {
      clearInterval(timer);
      watched.clear();
      await underWay;
    },
  };
}
