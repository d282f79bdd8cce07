import { statfs } from 'node:fs/promises';

/**
 * The free space that a write needs before it begins. PostgreSQL writes its log in files of 16 MB, and stops for good
 * if there is no space for the next one. The rest is for the rows of running transactions.
 */
export const neededBytes = 20 * 1024 * 1024;
/** How long one reading of the free space is used. */
const holdsMs = 100;

/** Reads the free space of a folder as often as needed. */
export class Room {
  readonly #folder: string;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<boolean> = Promise.resolve(true);

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether there is enough for a write. */
  isEnough(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#lookedAt > holdsMs) {
      this.#lookedAt = now;
      this.#looking = statfs(this.#folder).then(
        ({ bavail, bsize }) => bavail * bsize >= neededBytes,
        // Whoever uses the folder reports its errors.
        () => true,
      );
    }
    return this.#looking;
  }
}
