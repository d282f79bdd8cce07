import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { createEndpoint, type Endpoint } from '../connections/endpoint.ts';
import { Pulse } from '../connections/pulse.ts';
import { watchConnections } from '../connections/watch.ts';
import { poolWaitMs, sessionSettings } from '../postgresql.ts';
import { isUnreachable } from '../unreachable.ts';
import { ReplicaPool } from './pool.ts';
import { decodeWalPosition, encodeWalPosition, unreachedPosition } from './position.ts';

/** Where the replicas are, and how far behind one may be. */
export interface ReplicaOptions {
  readonly urls: readonly string[];
  readonly passwordFile?: string | undefined;
  readonly maxLagMs: number;
  /** The connections to each. */
  readonly poolSize: number;
  /** Whether a pooler may share its sessions with others. */
  readonly isShared: boolean;
  /** Told when a replica is read from now on, or no longer. */
  readonly onChange: (replica: number, isUsed: boolean) => void;
}

/** A replica as it was seen last. */
interface ReplicaState {
  /** Its number in `DATABASE_REPLICA_URLS`, from 1. */
  readonly number: number;
  readonly isUsed: boolean;
  /** How long ago it was known to have everything that the primary had. */
  readonly lagMs: number;
}

/** The replicas that reads may go to. */
export interface FollowedReplicas<Reader> {
  /**
   * The reader of a replica that is near enough, and has replayed this position; undefined if there is none.
   *
   * @param position The text of {@link position}; undefined: any replica will do.
   */
  reader(position: string | undefined): Reader | undefined;
  /** Reads the primary's position: whoever has replayed it has all that is committed now. It never fails. */
  position(): Promise<string>;
  states(): readonly ReplicaState[];
  /** The connections to each, in their order. */
  readonly pools: readonly ReplicaPool[];
  close(): Promise<void>;
}

/** How often each replica is asked how far it is, at most. */
const longestLookMs = 250;
/** How far back the primary's positions are known: a lag that is longer is reckoned from when it was seen last. */
const longestHistoryMs = 600_000;

interface PrimaryAnswer {
  readonly timeline: number;
  /** What has been written to the disk, and so can be sent to replicas. */
  readonly flushed: bigint;
  /** The end of everything that is committed. */
  readonly inserted: bigint;
}

async function askPrimary(client: pg.Client): Promise<PrimaryAnswer> {
  // What `synchronous_commit = off` has committed is inserted and not yet flushed.
  const { rows } = await client.query<Record<keyof PrimaryAnswer, string>>(
    `SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS "timeline",
            pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::text AS "flushed",
            pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS "inserted"`,
  );
  const [row] = rows;
  if (!row) throw new Error('A SELECT without FROM has one row.');
  return {
    timeline: Number.parseInt(row.timeline, 16),
    flushed: BigInt(row.flushed),
    inserted: BigInt(row.inserted),
  };
}

/** What a replica has replayed, if it is a standby, and the connection that says so. */
async function askReplica(client: pg.Client) {
  const { rows } = await client.query<{ lsn: string | null; isStandby: boolean }>(
    `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text AS "lsn",
            pg_is_in_recovery() AS "isStandby"`,
  );
  const { lsn = null, isStandby = false } = rows[0] ?? {};
  return { client, lsn: BigInt(lsn ?? 0), isStandby };
}

class LeftOutError extends Error {
  readonly code = 'ECONNABORTED';
}

/** One replica. */
class Replica<Reader> {
  readonly number: number;
  readonly pool: ReplicaPool;
  readonly reader: Reader;
  /** Whether it was found out if it can be read. */
  isJudged = false;
  /** How far it is, and who said so; undefined while that is not known. */
  seen: Awaited<ReturnType<typeof askReplica>> | undefined;
  /** The last time at which the primary had nothing that it now lacks; undefined while that is not known. */
  #freshAt: number | undefined;
  /** As above, when that was known last. */
  #lastFreshAt = performance.now();
  /** The connection to a server that has nothing that the primary never had. */
  #proven: pg.Client | undefined;
  /** The connection to one that has. */
  #refused: pg.Client | undefined;
  readonly #pulse: Pulse<Awaited<ReturnType<typeof askReplica>>>;
  readonly #close: () => Promise<void>;

  constructor(
    number: number,
    url: string,
    { passwordFile, poolSize, isShared }: ReplicaOptions,
    primary: pg.Pool,
    createReader: (pool: ReplicaPool) => { reader: Reader; close: () => Promise<void> },
  ) {
    const ignore = () => undefined;
    const endpoint = createEndpoint({ url, passwordFile });
    const connections = watchConnections(endpoint, endpoint, ignore, { isReplica: true });
    this.number = number;
    this.#pulse = new Pulse(endpoint, 'signet replicas', ignore, askReplica);
    this.pool = new ReplicaPool(
      {
        max: poolSize,
        connectionTimeoutMillis: poolWaitMs,
        application_name: 'signet',
        Client: connections.Client,
        isShared,
        // The server may have been promoted meanwhile.
        settings: { ...sessionSettings, default_transaction_read_only: 'on' },
      },
      primary,
      (error) => {
        if (isUnreachable(error)) this.leaveOut();
      },
    );
    this.pool.on('error', ignore);
    this.pool.on('connect', (client) => void client.on('error', ignore));
    const { reader, close } = createReader(this.pool);
    this.reader = reader;
    this.#close = async () => {
      this.#pulse.drop();
      await close();
      await this.pool.end();
      await connections.close();
    };
  }

  lagMs(now: number): number {
    return now - (this.#freshAt ?? this.#lastFreshAt);
  }

  isUsed(now: number, maxLagMs: number): boolean {
    return (
      this.#freshAt !== undefined &&
      now - this.#freshAt <= maxLagMs &&
      this.#proven === this.seen?.client
    );
  }

  /** Uses it no more until it is looked at again. */
  leaveOut(): void {
    this.#freshAt = undefined;
    this.#proven = undefined;
    this.seen = undefined;
  }

  hasReplayed(lsn: bigint): boolean {
    return this.seen !== undefined && lsn <= this.seen.lsn;
  }

  /** Asks how far it is. */
  async look(freshAt: (lsn: bigint) => number | undefined): Promise<void> {
    try {
      const seen = await this.#pulse.ask();
      // A standby that is made anew is started anew.
      if (!seen.isStandby || seen.client === this.#refused) {
        this.isJudged = true;
        return this.leaveOut();
      }
      this.seen = seen;
      this.#freshAt = freshAt(seen.lsn) ?? this.#freshAt;
      this.#lastFreshAt = this.#freshAt ?? this.#lastFreshAt;
    } catch {
      this.isJudged = true;
      this.leaveOut();
      this.pool.abandon(new LeftOutError('The replica does not answer.'));
    }
  }

  /** Compares what was seen with what the primary had on its disk after that, which is all that a replica can get. */
  compare({ client, lsn }: { client: pg.Client; lsn: bigint }, flushed: bigint): void {
    this.isJudged = true;
    if (lsn <= flushed) this.#proven = client;
    else {
      this.#refused = client;
      this.leaveOut();
    }
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** Waits for what is under way, and asks anew: the answer is about no time before the call. */
function askingAnew<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asking: Promise<Answer> | undefined;
  let next: Promise<Answer> | undefined;
  function askAnew(): Promise<Answer> {
    if (asking === undefined) {
      asking = ask().finally(() => {
        asking = undefined;
      });
      return asking;
    }
    next ??= asking
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        next = undefined;
        return askAnew();
      });
    return next;
  }
  return askAnew;
}

/**
 * Follows replicas: one that lags too far, or does not answer, is not read until it does.
 *
 * The lag is the time since the primary's log ended where the replica is now, by this process's clock: an idle primary
 * makes no lag, and no clocks are compared. Both are asked a few times a second, over a connection each.
 *
 * @param primary The way to the primary, past a pooler.
 * @param fallback Runs the statements that fail at a replica.
 * @param createReader Makes what reads from a replica's pool.
 */
export function followReplicas<Reader>(
  options: ReplicaOptions,
  primary: Endpoint,
  fallback: pg.Pool,
  createReader: (pool: ReplicaPool) => { reader: Reader; close: () => Promise<void> },
): FollowedReplicas<Reader> {
  const { urls, maxLagMs, onChange } = options;
  const pulse = new Pulse(primary, 'signet replicas', () => undefined, askPrimary);
  const ask = askingAnew(() => pulse.ask());
  const replicas = urls.map((url, i) => new Replica(i + 1, url, options, fallback, createReader));
  const told = new Map<Replica<Reader>, boolean>();
  /** The primary's positions, the newest last, each with the last time when it was the end. */
  const history: { lsn: bigint; at: number }[] = [];
  let timeline: number | undefined;
  let isLooking = false;
  let turn = 0;

  function note({ timeline: found, flushed }: PrimaryAnswer, at: number): void {
    if (found !== timeline) {
      // What was known is of another history.
      history.length = 0;
      for (const replica of replicas) replica.leaveOut();
      timeline = found;
    }
    const last = history.at(-1);
    if (last?.lsn === flushed) last.at = at;
    else history.push({ lsn: flushed, at });
    while (at - (history[0]?.at ?? at) > longestHistoryMs) history.shift();
  }

  const freshAt = (lsn: bigint) => history.findLast((past) => past.lsn <= lsn)?.at;

  async function look(): Promise<void> {
    const before = replicas.map(({ seen }) => seen);
    const at = performance.now();
    const answer = await ask();
    note(answer, at);
    for (const [i, replica] of replicas.entries()) {
      const seen = before[i];
      if (seen) replica.compare(seen, answer.flushed);
      void replica.look(freshAt);
    }
  }

  function tell(): void {
    const now = performance.now();
    for (const replica of replicas) {
      const isUsed = replica.isUsed(now, maxLagMs);
      if (!replica.isJudged || isUsed === told.get(replica)) continue;
      told.set(replica, isUsed);
      onChange(replica.number, isUsed);
    }
  }

  function tick(): void {
    tell();
    if (isLooking) return;
    isLooking = true;
    // While the primary does not answer, nothing is known of the lag, which grows.
    look()
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  }

  tick();
  const timer = setInterval(tick, Math.min(longestLookMs, Math.ceil(maxLagMs / 4))).unref();

  return {
    pools: replicas.map(({ pool }) => pool),
    reader(text) {
      const now = performance.now();
      const position = text === undefined ? undefined : decodeWalPosition(text);
      const near = replicas.filter(
        (replica) =>
          replica.isUsed(now, maxLagMs) &&
          (position === undefined ||
            (position.timeline === timeline && replica.hasReplayed(position.lsn))),
      );
      turn += 1;
      return near[turn % near.length]?.reader;
    },
    async position() {
      try {
        const { timeline, inserted } = await ask();
        return encodeWalPosition({ timeline, lsn: inserted });
      } catch {
        // The change is made all the same: whoever sends this back reads at the primary.
        return encodeWalPosition(unreachedPosition);
      }
    },
    states() {
      const now = performance.now();
      return replicas.map((replica) => ({
        number: replica.number,
        isUsed: replica.isUsed(now, maxLagMs),
        lagMs: replica.lagMs(now),
      }));
    },
    async close() {
      clearInterval(timer);
      pulse.drop();
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}
