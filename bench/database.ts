import { randomBytes } from 'node:crypto';
import { administer } from '../test/support/peers/postgresql/administer.ts';

/**
 * Creates a database for one run on the PostgreSQL of BENCH_DATABASE_URL, or on the local one. Without one, prints a
 * line and returns undefined.
 */
export async function createBenchDatabase(): Promise<
  { url: string; drop(): Promise<void> } | undefined
> {
  const server = process.env['BENCH_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
  const name = `signet_bench_${randomBytes(4).toString('hex')}`;
  try {
    await administer(server, `CREATE DATABASE "${name}"`);
  } catch (error) {
    process.stdout.write(
      `No PostgreSQL to measure on (${(error as Error).message}): set BENCH_DATABASE_URL.\n`,
    );
    return undefined;
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(server, `DROP DATABASE "${name}" WITH (FORCE)`) };
}
