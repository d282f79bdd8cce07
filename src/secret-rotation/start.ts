import { repeat } from '../scheduler.ts';
import type { Services } from '../services.ts';
import { findLeft, rewriteAll } from './rewrite.ts';
import { noteRewritten, noteUse, readPrevious, sayingAloneMs, sayingMs } from './use.ts';

// While another node still writes with the previous secret, a look at all tables follows the one before after ten times
// as long as that took.
const restFactor = 10;

/**
 * Says again and again which secret this node uses, and encrypts anew what the previous one encrypted. What neither
 * secret opens stays as it is, and is logged.
 *
 * @returns A function that stops it; it resolves when nothing is running.
 */
export function startSecretRotation(services: Services): () => Promise<void> {
  const stopped = new AbortController();
  const run = rotation(services, stopped.signal);
  const onError = (err: unknown) =>
    services.log.warn({ err }, 'the use of the secrets could not be looked at');
  const stop = repeat(services.cipher.previous ? sayingMs : sayingAloneMs, run, onError);
  return () => {
    stopped.abort();
    return stop();
  };
}

/** One run of {@link startSecretRotation} after the other. */
function rotation(services: Services, stopped: AbortSignal): () => Promise<void> {
  const { clock, log } = services;
  let restUntilMs = 0;
  let reported = 0;

  async function rewrite(): Promise<boolean> {
    await rewriteAll(services, stopped);
    let unreadable = 0;
    for await (const { isReadable } of findLeft(services.database, services.cipher)) {
      if (isReadable || stopped.aborted) return false;
      unreadable += 1;
    }
    if (unreadable > reported) {
      reported = unreadable;
      log.error({ count: unreadable }, 'neither secret decrypts some values');
    }
    return true;
  }

  return async () => {
    await noteUse(services);
    const previous = await readPrevious(services);
    if (previous?.state !== 'RE_ENCRYPTING' || !previous.use) return;
    const startedMs = performance.now();
    if (startedMs < restUntilMs) return;
    if (restUntilMs === 0) log.info('what the previous secret encrypted is being encrypted anew');
    const startedAt = clock.now();
    const isDone = await rewrite();
    const endedMs = performance.now();
    restUntilMs = isDone ? endedMs + restFactor * (endedMs - startedMs) : 0;
    if (isDone && (await noteRewritten(services, previous.use, startedAt)))
      log.info('everything is encrypted with the current secret');
  };
}
