import { setTimeout } from 'node:timers/promises';
import { createQueue, type Queue } from '../../admission/queue.ts';
import { HashingBusy } from '../hash-queue.ts';
import { costOf } from './digest-cost.ts';
import { verifyImportedPassword } from './imported-password.ts';

/** How many checks of imported digests wait in a process; beyond that they are refused. */
export const maxWaitingImportedChecks = 20;

/** Checks passwords against imported digests, in a time that does not reveal the digest. */
export interface ImportedChecks {
  /**
   * Whether a password matches an imported digest. If it does not, the answer has taken as long as a check of the
   * costliest imported digest, and as many places in the queue, whatever the digest was. Without one it is the same.
   *
   * @param digest Null for an unknown person, and where the digest was not imported.
   * @param costliest The imported digest of the directory that costs most.
   * @throws {HashingBusy} when the queue is full.
   */
  check(digest: string | null, spellings: readonly string[], costliest: string): Promise<boolean>;
  readonly queue: Queue;
}

/** Makes the checks of a process. The options are for tests. */
export function createImportedChecks({
  verify = verifyImportedPassword,
  pause = setTimeout,
}: {
  verify?: typeof verifyImportedPassword;
  pause?: (milliseconds: number) => Promise<unknown>;
} = {}): ImportedChecks {
  const queue = createQueue({
    concurrency: 1,
    maxWaiting: maxWaitingImportedChecks,
    busy: () => new HashingBusy(),
  });
  // How long the costliest digest took last. Measured, because it differs between machines and with their load.
  let measured = { cost: Number.NaN, milliseconds: 0 };

  const isBehind = (digest: string, password: string) =>
    // The libraries throw on what they cannot read. An import rejects it, but the table may hold such a digest.
    verify(digest, password).catch(() => false);

  async function checkCostliest(digest: string, password: string): Promise<boolean> {
    const begun = performance.now();
    const isRight = await isBehind(digest, password);
    measured = { cost: costOf(digest), milliseconds: performance.now() - begun };
    return isRight;
  }

  async function checkOne(digest: string | null, password: string, costliest: string) {
    if (digest === null) {
      // Real work and not only a pause: it slows down as the real one does when the machine is busy.
      await checkCostliest(costliest, password);
      return false;
    }
    const cost = costOf(costliest);
    if (costOf(digest) >= cost) return checkCostliest(digest, password);
    if (measured.cost !== cost) await checkCostliest(costliest, password);
    const begun = performance.now();
    const isRight = await isBehind(digest, password);
    const left = measured.milliseconds - (performance.now() - begun);
    if (!isRight) await pause(Math.max(0, left));
    return isRight;
  }

  return {
    queue,
    check: (digest, spellings, costliest) =>
      queue.run(async () => {
        let isRight = false;
        for (const spelling of spellings)
          isRight = (await checkOne(digest, spelling, costliest)) || isRight;
        return isRight;
      }),
  };
}

/** The checks of this process. */
export const importedChecks: ImportedChecks = createImportedChecks();
