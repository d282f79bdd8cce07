import type {
  IsolationLevel,
  SqlDriverAdapter,
  SqlMigrationAwareDriverAdapterFactory,
  SqlQueryable,
} from '@prisma/driver-adapter-utils';
import { tracedStatement } from '../../tracing/statements.ts';
import type { Call } from './calls.ts';

const provider = 'postgres';
const adapterName = 'signet-embedded';

/** Prisma's adapter for an embedded database. */
export class EmbeddedAdapter implements SqlMigrationAwareDriverAdapterFactory {
  readonly provider = provider;
  readonly adapterName = adapterName;
  readonly #call: Call;

  constructor({ call }: { readonly call: Call }) {
    this.#call = call;
  }

  async connect(): Promise<SqlDriverAdapter> {
    return adapterOf(this.#call, async () => undefined);
  }

  async connectToShadowDb(): Promise<SqlDriverAdapter> {
    const [{ callsOn }, { openEmbedded }] = await Promise.all([
      import('./answers.ts'),
      import('./open.ts'),
    ]);
    const calls = await callsOn(await openEmbedded({}), {});
    const call = ((method, ...args) =>
      (calls[method] as (...given: unknown[]) => unknown)(...args)) as Call;
    return adapterOf(call, () => calls.close());
  }
}

const adapterOf = (call: Call, dispose: () => Promise<void>): SqlDriverAdapter => ({
  ...queries(call, undefined),
  executeScript: (script) => call('executeScript', script),
  async startTransaction(isolation?: IsolationLevel) {
    const transaction = await call('begin', isolation);
    return {
      ...queries(call, transaction),
      // Prisma sends no COMMIT or ROLLBACK of its own.
      options: { usePhantomQuery: true },
      commit: () => call('commit', transaction),
      rollback: () => call('rollback', transaction),
    };
  },
  getConnectionInfo: () => ({ supportsRelationJoins: true }),
  dispose,
});

const queries = (call: Call, transaction: number | undefined): SqlQueryable => ({
  provider,
  adapterName,
  queryRaw: (query) => tracedStatement(query.sql, () => call('queryRaw', transaction, query)),
  executeRaw: (query) => tracedStatement(query.sql, () => call('executeRaw', transaction, query)),
});
