import { AsyncLocalStorage } from 'node:async_hooks';
import type { Opening } from './openings.ts';

const asked = new AsyncLocalStorage<Set<Opening>>();

/** Notes that the running operation has made this check. */
export const noteAsked = (opening: Opening): void => void asked.getStore()?.add(opening);

/** Runs an operation, and notes in a set which checks it makes. */
export const noting = <T>(done: Set<Opening>, run: () => T): T => asked.run(done, run);
