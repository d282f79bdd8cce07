import {
  mostToldAMinute,
  otherOf,
  type Refusal,
  type ShareKey,
  sharesOf,
  textOf,
} from './refusal.ts';

/** The most refusals that wait in a process. */
export const maxQueued = 5_000;
/** The most shares whose left-out refusals a process counts by name. */
export const maxCounted = 100_000;

/** The refusals that a share left out, since the first of them. */
export interface LeftOut {
  readonly share: ShareKey;
  readonly count: number;
  readonly since: Date;
}

/** What waits to be written. */
export interface Waiting {
  readonly refusals: readonly Refusal[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * The refusals that wait in this process to be written. Its size has a limit: a refusal without room, and one that
 * exceeds its share in any case, is only counted.
 */
export class RefusalQueue {
  #refusals: Refusal[] = [];
  #queuedOf = new Map<string, number>();
  #leftOut = new Map<string, LeftOut>();

  get size(): number {
    return this.#refusals.length;
  }

  get isEmpty(): boolean {
    return this.#refusals.length === 0 && this.#leftOut.size === 0;
  }

  add(refusal: Refusal): void {
    const shares = sharesOf(refusal);
    const full = shares.find((share) => this.#countOf(share) >= mostToldAMinute[share.kind]);
    if (full || this.#refusals.length >= maxQueued) {
      this.#leaveOut({ share: full ?? shares[0], count: 1, since: refusal.at });
      return;
    }
    this.#refusals.push(copied(refusal));
    for (const share of shares) this.#queuedOf.set(textOf(share), this.#countOf(share) + 1);
  }

  #countOf(share: ShareKey): number {
    return this.#queuedOf.get(textOf(share)) ?? 0;
  }

  /** Takes everything out. */
  take(): Waiting {
    const waiting = { refusals: this.#refusals, leftOut: [...this.#leftOut.values()] };
    this.#refusals = [];
    this.#queuedOf = new Map();
    this.#leftOut = new Map();
    return waiting;
  }

  /** Puts back what could not be written, as far as there is room. */
  putBack({ refusals, leftOut }: Waiting): void {
    for (const refusal of refusals) this.add(refusal);
    for (const one of leftOut) this.#leaveOut(one);
  }

  #leaveOut({ share: asked, count, since }: LeftOut): void {
    const isCounted = this.#leftOut.has(textOf(asked)) || this.#leftOut.size < maxCounted;
    const share = isCounted ? asked : otherOf(asked.type);
    const text = textOf(share);
    const known = this.#leftOut.get(text);
    this.#leftOut.set(text, {
      share: known?.share ?? { ...share, name: ownText(share.name) },
      count: (known?.count ?? 0) + count,
      since: known && known.since < since ? known.since : since,
    });
  }
}

const maxTextLength = 512;

/** A text that the database can hold, in memory of its own: a part of a body keeps the whole of it. */
const ownText = (text: string): string =>
  Buffer.from(text.slice(0, maxTextLength).replaceAll('\0', '')).toString();

/** Only refusals that are kept are copied: it is most of what one costs. */
const copied = ({ call, ...refusal }: Refusal): Refusal =>
  ({
    ...refusal,
    call: {
      traceId: call.traceId,
      ip: ownText(call.ip),
      userAgent: call.userAgent === null ? null : ownText(call.userAgent),
    },
    data: Object.fromEntries(
      Object.entries(refusal.data).map(([name, value]) => [
        name,
        typeof value === 'string' ? ownText(value) : value,
      ]),
    ),
    // The compiler does not see that the fields stay those of the type.
  }) as unknown as Refusal;
