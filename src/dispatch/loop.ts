/** Work that is repeated whenever it is woken. */
export interface Loop {
  /** Does the work now, or once more if it is running. */
  wake(): void;
  /** Lets the running work end, and starts no more. */
  stop(): Promise<void>;
}

/** Creates a loop, which runs once at a time. A failed run is reported, and the next wake starts another. */
export function createLoop(work: () => Promise<void>, onError: (error: unknown) => void): Loop {
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;

  async function run() {
    while (isWanted && !isStopped) {
      isWanted = false;
      try {
        await work();
      } catch (error) {
        onError(error);
        isWanted = false;
      }
    }
    running = undefined;
  }

  return {
    wake() {
      isWanted = true;
      if (!isStopped) running ??= run();
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
