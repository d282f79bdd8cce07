import type pg from 'pg';
import {
  TransactionPool,
  type TransactionPoolConfig,
} from '../connections/transaction-connection.ts';

/**
 * A pool of connections to a replica. A statement that fails there, for whatever reason, is run at the primary: it only
 * reads, and the primary has every table and every right that the replica may not have yet.
 */
export class ReplicaPool extends TransactionPool {
  readonly #primary: pg.Pool;
  readonly #onFailure: (error: unknown) => void;
  readonly #underWay = new Set<(error: Error) => void>();

  /** @param onFailure Gets the error of each statement that goes to the primary. */
  constructor(
    config: TransactionPoolConfig,
    primary: pg.Pool,
    onFailure: (error: unknown) => void,
  ) {
    super(config);
    this.#primary = primary;
    this.#onFailure = onFailure;
  }

  override query(config: unknown, ...others: unknown[]): never {
    return this.#read(config, others) as never;
  }

  async #read(config: unknown, others: unknown[]): Promise<unknown> {
    const abandoned = Promise.withResolvers<never>();
    this.#underWay.add(abandoned.reject);
    try {
      return await Promise.race([super.query(config, ...others), abandoned.promise]);
    } catch (error) {
      this.#onFailure(error);
    } finally {
      this.#underWay.delete(abandoned.reject);
    }
    return this.#primary.query(config as never, ...(others as never[]));
  }

  /** Runs the statements that still wait for an answer at the primary. */
  abandon(error: Error): void {
    for (const reject of this.#underWay) reject(error);
  }
}
