import type { Services } from '../../services.ts';
import { RefusalQueue } from './queue.ts';
import type { Refusal, ReportedRefusal } from './refusal.ts';
import { writeRefusals } from './write.ts';

const secondMs = 1_000;
// Enough for a second without an attack.
const writtenAtOnce = 500;

const queues = new WeakMap<Services['cipher'], (refusal: Refusal) => void>();

const writtenAt = new WeakMap<Services['cipher'], number>();

/** How long ago this process last wrote about refusals, in milliseconds; infinite if it never did. */
export const lastWrittenMs = ({ cipher }: Pick<Services, 'cipher'>): number =>
  performance.now() - (writtenAt.get(cipher) ?? Number.NEGATIVE_INFINITY);

/**
 * Reports a refusal for an event, which is written within a second: the answer does not wait for it. Never fails. Of
 * many refusals, only some become events: see {@link mostToldAMinute}.
 */
export function reportRefusal(
  { cipher, clock }: Pick<Services, 'cipher' | 'clock'>,
  refusal: ReportedRefusal,
): void {
  queues.get(cipher)?.({ ...refusal, at: clock.now() });
}

/**
 * Starts writing the events of refusals, each second or when many wait. What cannot be written now is tried again, as
 * far as there is room.
 *
 * @param everyMs The time between two writes. Tests have less than a second.
 * @returns A function that stops it, and writes what still waits.
 */
export function startRefusals(services: Services, everyMs = secondMs): () => Promise<void> {
  const { cipher, log } = services;
  const queue = new RefusalQueue();
  let underWay: Promise<void> | undefined;
  let isFailing = false;

  async function write(): Promise<void> {
    const waiting = queue.take();
    try {
      await writeRefusals(services, waiting);
      writtenAt.set(cipher, performance.now());
      isFailing = false;
    } catch (error) {
      queue.putBack(waiting);
      // Once, and not each second until the database is back.
      if (!isFailing) log.warn({ err: error }, 'refusals could not be written; they are kept');
      isFailing = true;
    }
  }

  function flush(): Promise<void> {
    if (queue.isEmpty && !underWay) return Promise.resolve();
    underWay ??= write().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  queues.set(cipher, (refusal) => {
    queue.add(refusal);
    if (queue.size === writtenAtOnce) void flush();
  });
  const timer = setInterval(() => void flush(), everyMs);
  return async () => {
    clearInterval(timer);
    queues.delete(cipher);
    await underWay;
    await flush();
  };
}
