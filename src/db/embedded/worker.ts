// The thread of the embedded database.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { answerCalls, callsOn } from './answers.ts';
import type { LookupSettings } from './calls.ts';
import { openEmbedded } from './open.ts';

const port = parentPort as MessagePort;
const { dataDir, settings } = workerData as { dataDir: string; settings: LookupSettings };

const database = await openEmbedded({ dataDir });

/** The parts of PostgreSQL's module that PGlite's type of it leaves out. */
interface Module {
  _PostgresMainLoopOnce(): void;
}
// The exit status after a statement's error, from which PGlite goes on.
const afterError = 100;
const module = database.Module as unknown as Module;
const runOnce = module._PostgresMainLoopOnce;
// PGlite treats every other exit like this one, and calls the dead module again for ever. So this thread ends.
module._PostgresMainLoopOnce = () => {
  try {
    runOnce();
  } catch (error) {
    if ((error as { status?: number }).status !== afterError) process.exit(1);
    throw error;
  }
};

answerCalls(port, await callsOn(database, settings));
port.postMessage('ready');
