/** Work that is done over and over, whenever there may be some. */
export interface Loop {
  /** Does the work now, or once more where it is being done. */
  wake(): void;
  /** Lets the work under way end and does none from then on. */
  stop(): Promise<void>;
}

/** Makes a loop: never two runs at once, and a failed run is reported and waits for the next wake. */
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
