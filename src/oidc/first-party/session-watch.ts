import { repeat } from '../../scheduler.ts';
import type { Services } from '../../services.ts';
import type { FirstPartyApp } from './app.ts';
import { faultsOfSessions } from './session.ts';

/** Watches the sessions of connections that stay open. */
export interface SessionWatch {
  /**
   * Watches a session until it is over.
   *
   * @param onFault Called once, with the reason.
   * @returns A function that ends the watch.
   */
  watch(id: string, onFault: (fault: string) => void): () => void;
  stop(): Promise<void>;
}

/** Twice in the second within which a session has to end everywhere. */
const intervalMs = 500;

/** Starts to watch. The database is asked while there is something to watch, for all sessions at once. */
export function startSessionWatch(services: Services, app: FirstPartyApp): SessionWatch {
  const watched = new Map<symbol, { id: string; onFault: (fault: string) => void }>();

  async function check(): Promise<void> {
    if (watched.size === 0) return;
    const entries = [...watched];
    const ids = new Set(entries.map(([, { id }]) => id));
    const faults = await faultsOfSessions(services, app, [...ids]);
    for (const [entry, { id, onFault }] of entries) {
      const fault = faults.get(id);
      if (fault !== undefined && watched.delete(entry)) onFault(fault);
    }
  }

  const stop = repeat(intervalMs, check, (error) =>
    services.log.warn({ err: error, app: app.name }, 'the sessions of an app could not be checked'),
  );
  return {
    watch(id, onFault) {
      const entry = Symbol();
      watched.set(entry, { id, onFault });
      return () => void watched.delete(entry);
    },
    async stop() {
      watched.clear();
      await stop();
    },
  };
}
