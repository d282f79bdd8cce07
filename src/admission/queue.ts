/** How a piece of work stands in a queue. */
export interface Standing {
  /** It may wait in a full queue: a later part of work that was already admitted. */
  readonly isAdmitted?: boolean;
  /** It waits behind all that is not later. */
  readonly isLater?: boolean;
}

/** Runs a limited number of jobs at a time. */
export interface Queue {
  /**
   * Does some work when its turn comes.
   *
   * @throws what `busy` makes, when its line is full.
   */
  run<T>(work: () => Promise<T>, standing?: Standing): Promise<T>;
  /** Throws if {@link run} would now. Call it before other work, to avoid wasting it. */
  assertRoom(standing?: Pick<Standing, 'isLater'>): void;
  /** How many jobs wait for their turn. */
  readonly waiting: number;
  /** Does so many jobs at a time from now on. */
  resize(concurrency: number): void;
}

/**
 * Makes a queue that does `concurrency` jobs at a time, in order, while at most `maxWaiting` wait, and as many of what
 * is later.
 *
 * @param options.busy Makes the error for whoever finds the line full.
 */
export function createQueue({
  concurrency,
  maxWaiting,
  busy,
}: {
  readonly concurrency: number;
  readonly maxWaiting: number;
  readonly busy: () => Error;
}): Queue {
  let atOnce = concurrency;
  const first: (() => void)[] = [];
  const later: (() => void)[] = [];
  let underWay = 0;

  const lineOf = ({ isLater = false }: Standing) => (isLater ? later : first);

  function assertRoom(standing: Standing = {}) {
    if (underWay >= atOnce && lineOf(standing).length >= maxWaiting) throw busy();
  }

  return {
    assertRoom,
    resize(size) {
      atOnce = size;
    },
    get waiting() {
      return first.length + later.length;
    },
    async run(work, standing = {}) {
      if (!standing.isAdmitted) assertRoom(standing);
      if (underWay < atOnce) underWay += 1;
      // A finished job passes its place to the next one, so that a new job cannot overtake waiting ones.
      else await new Promise<void>((resolve) => lineOf(standing).push(resolve));
      try {
        return await work();
      } finally {
        const next = first.shift() ?? later.shift();
        if (next) next();
        else underWay -= 1;
      }
    },
  };
}
