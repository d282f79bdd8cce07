import { MessageChannel } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';
import type { DatabaseState } from '../connections/state.ts';
import { type Call, Caller, type LookupSettings } from './calls.ts';

/** A running embedded database. */
export interface EmbeddedEngine {
  readonly call: Call;
  /** Whether calls wait for each other. */
  isBacklogged(): boolean;
  state(): Promise<DatabaseState>;
  close(): Promise<void>;
}

/**
 * Runs an open database in this thread, for tests and scripts, which need not start another. Everything else works as
 * with a separate thread, messages included.
 */
export function engineHere(database: PGlite, settings: LookupSettings): EmbeddedEngine {
  const { port1: here, port2: there } = new MessageChannel();
  const caller = new Caller(here);
  // Loaded here, so that a process whose database has a thread loads PGlite only in that thread.
  void import('./answers.ts').then(async ({ answerCalls, callsOn }) => {
    answerCalls(there, await callsOn(database, settings));
    // A waiting call keeps the process alive; the answering side need not.
    there.unref();
  });
  return {
    call: caller.call,
    isBacklogged: () => caller.isBacklogged,
    async state() {
      await caller.call('ping');
      return 'ready';
    },
    async close() {
      await caller.call('close');
      here.close();
    },
  };
}
