import type { Services } from '../services.ts';
import { type Caller, faultOfState, readTokenStates } from './caller.ts';

/** Watches the tokens of connections that stay open. */
export interface TokenWatch {
  /**
   * Watches a caller's token until it is no longer good.
   *
   * @param onFault Called once, with the class of fault, when the token expires or is refused.
   * @returns Ends the watch.
   */
  watch(caller: Caller, onFault: (fault: string) => void): () => void;
  stop(): Promise<void>;
}

const expiryMs = 1_000;
const stateMs = 5_000;

/** Starts to watch. Expiry is noticed within a second, a change in the database within five. */
export function startTokenWatch({
  clock,
  database,
  log,
}: Pick<Services, 'clock' | 'database' | 'log'>): TokenWatch {
  const watched = new Map<symbol, { caller: Caller; onFault: (fault: string) => void }>();
  let underWay = Promise.resolve();

  function refuse(entry: symbol, fault: string) {
    const watcher = watched.get(entry);
    if (watched.delete(entry)) watcher?.onFault(fault);
  }

  function checkExpiry() {
    const now = clock.now();
    for (const [entry, { caller }] of watched) {
      if (caller.expiresAt <= now) refuse(entry, 'token expired');
    }
  }

  // One statement for any number of connections.
  async function checkState(): Promise<void> {
    const entries = [...watched];
    if (entries.length === 0) return;
    const claims = entries.map(([, { caller }]) => caller.claims);
    try {
      const states = await readTokenStates(database.tokens, claims);
      for (const [index, [entry, { caller }]] of entries.entries()) {
        const state = states[index];
        const fault = state && faultOfState(caller.claims, state);
        if (fault) refuse(entry, fault);
      }
    } catch (error) {
      log.warn({ err: error }, 'the tokens of open connections could not be checked');
    }
  }

  const timers = [
    setInterval(checkExpiry, expiryMs),
    setInterval(() => {
      underWay = underWay.then(checkState);
    }, stateMs),
  ];
  return {
    watch(caller, onFault) {
      const entry = Symbol();
      watched.set(entry, { caller, onFault });
      return () => void watched.delete(entry);
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      watched.clear();
      await underWay;
    },
  };
}
