import { repeat } from '../scheduler.ts';
import type { Services } from '../services.ts';
import type { Caller } from './caller.ts';
import { faultOfState, readTokenStates } from './token-state.ts';

/** Watches the tokens of connections that stay open. */
export interface TokenWatch {
  /**
   * Watches a caller's token until it is no longer valid.
   *
   * @param onFault Called once, with the class of fault, when the token expires or is refused.
   * @returns A function that ends the watch.
   */
  watch(caller: Caller, onFault: (fault: string) => void): () => void;
  stop(): Promise<void>;
}

const expiryMs = 1_000;
const stateMs = 5_000;

/** Starts the watch. It notices expiry within a second, and a change in the database within five. */
export function startTokenWatch({
  clock,
  database,
  log,
}: Pick<Services, 'clock' | 'database' | 'log'>): TokenWatch {
  const watched = new Map<symbol, { caller: Caller; onFault: (fault: string) => void }>();

  function refuse(entry: symbol, fault: string) {
    const watcher = watched.get(entry);
    if (watched.delete(entry)) watcher?.onFault(fault);
  }

  async function checkExpiry() {
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
    const states = await readTokenStates(database.tokens, claims);
    for (const [index, [entry, { caller }]] of entries.entries()) {
      const state = states[index];
      const fault = state && faultOfState(caller.claims, state);
      if (fault) refuse(entry, fault);
    }
  }

  const report = (error: unknown) =>
    log.warn({ err: error }, 'the tokens of open connections could not be checked');
  const stops = [repeat(expiryMs, checkExpiry, report), repeat(stateMs, checkState, report)];
  return {
    watch(caller, onFault) {
      const entry = Symbol();
      watched.set(entry, { caller, onFault });
      return () => void watched.delete(entry);
    },
    async stop() {
      watched.clear();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}
