import type { Clock } from '../clock.ts';
import { createAgent } from './agent.ts';
import type { ResolveHost } from './dns.ts';
import { guardedFetch } from './fetch.ts';

const minute = 60_000;
/** How long a document is kept, whatever its server says, in milliseconds. */
const shortestMs = 5 * minute;
const longestMs = 24 * 60 * minute;
/** How often a document is fetched again because something is missing in it, at most. */
const againMs = 30_000;
/** How long nobody tries again after a failure. */
const failedMs = 10_000;
const timeoutMs = 5_000;
const maxBytes = 64 * 1024;
const maxDocuments = 1_000;

/** What the fetching of documents needs. */
interface Surroundings {
  readonly config: { readonly allowPrivateWebhooks: boolean };
  readonly clock: Clock;
  readonly resolveHost: ResolveHost;
}

interface Kept<Document> {
  /** Undefined if it could not be fetched. */
  readonly document: Document | undefined;
  readonly until: number;
  /** When something was missing in it. */
  missedAt: number;
}

/**
 * JSON documents at addresses that administrators set. Each is kept for as long as its server says, between 5 minutes
 * and 24 hours. Requests go to public addresses only, unless private ones are allowed; no redirect is followed, and at
 * most 64 KiB are read, in 5 seconds.
 */
export class Documents<Document> {
  readonly #surroundings: Surroundings;
  readonly #read: (json: unknown) => Document;
  readonly #kept = new Map<string, Kept<Document>>();
  readonly #underWay = new Map<string, Promise<Document | undefined>>();

  /** @param read Reads a document; what it throws counts as a failure. */
  constructor(surroundings: Surroundings, read: (json: unknown) => Document) {
    this.#surroundings = surroundings;
    this.#read = read;
  }

  /**
   * The document at a URL; undefined if it cannot be had. A failure is remembered for 10 seconds.
   *
   * @param isMissing Whether something is missing in the document that is kept. Then it is fetched again at once, but
   *   only once in 30 seconds.
   */
  async find(
    url: string,
    isMissing: (document: Document) => boolean,
  ): Promise<Document | undefined> {
    const now = this.#surroundings.clock.now().getTime();
    const kept = this.#kept.get(url);
    if (!kept || kept.until <= now) return this.#fetch(url, now);
    const { document } = kept;
    if (document === undefined || !isMissing(document)) return document;
    if (now - kept.missedAt < againMs) return this.#underWay.get(url) ?? document;
    kept.missedAt = now;
    return (await this.#fetch(url, now, kept)) ?? document;
  }

  /** Fetches a document; those who ask meanwhile get the same. */
  #fetch(url: string, now: number, before?: Kept<Document>): Promise<Document | undefined> {
    const known = this.#underWay.get(url);
    if (known) return known;
    const fetching = this.#load(url)
      .then(
        ({ document, lifetimeMs }) => ({ document, until: now + lifetimeMs }),
        // What was fetched before is still good.
        () => before ?? { document: undefined, until: now + failedMs },
      )
      .then(({ document, until }) => {
        const { missedAt = Number.NEGATIVE_INFINITY } = this.#kept.get(url) ?? {};
        this.#keep(url, { document, until, missedAt });
        return document;
      })
      .finally(() => this.#underWay.delete(url));
    this.#underWay.set(url, fetching);
    return fetching;
  }

  async #load(url: string): Promise<{ document: Document; lifetimeMs: number }> {
    const { config, clock, resolveHost } = this.#surroundings;
    const allowPrivate = config.allowPrivateWebhooks;
    if (!allowPrivate && new URL(url).protocol !== 'https:') throw new Error('not an https URL');
    const agent = createAgent({ allowPrivate, resolveHost, timeoutMs });
    try {
      const headers = { accept: 'application/json' };
      const answer = await guardedFetch(agent, { timeoutMs, maxBytes })(url, { headers });
      if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
      const document = this.#read(await answer.json());
      return { document, lifetimeMs: lifetimeOf(answer.headers, clock.now()) };
    } finally {
      await agent.destroy();
    }
  }

  #keep(url: string, kept: Kept<Document>): void {
    this.#kept.delete(url);
    this.#kept.set(url, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxDocuments && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** How long an answer may be kept (RFC 9111 §4.2), within our bounds, in milliseconds. */
export function lifetimeOf(headers: Headers, now: Date): number {
  const control = headers.get('cache-control') ?? '';
  const [, maxAge] = /(?:^|[\s,])max-age="?(\d+)/i.exec(control) ?? [];
  const expires = Date.parse(headers.get('expires') ?? '');
  const age = Number(headers.get('age') ?? 0) || 0;
  const isForbidden = /(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])/i.test(control);
  const given = maxAge === undefined ? expires - now.getTime() : (Number(maxAge) - age) * 1000;
  return isForbidden || Number.isNaN(given)
    ? shortestMs
    : Math.min(Math.max(given, shortestMs), longestMs);
}
