import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { StartError } from '../../errors.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';

const prismaFolder = fileURLToPath(new URL('../../../prisma/', import.meta.url));
const noFilter = { externalTables: [], externalEnums: [] };

const baseDir = `${prismaFolder}migrations`;

// As PostgreSQL words insufficient_privilege; the engine has no code for it.
const lackingRight = /(permission denied (for|to)|must be (owner|superuser|member))[^\n]*/;

const readNames = async () =>
  (await readdir(baseDir, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();

async function readMigrations() {
  const names = await readNames();
  return {
    baseDir,
    lockfile: {
      path: 'migration_lock.toml',
      content: await readFile(`${baseDir}/migration_lock.toml`, 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      names.map(async (name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: {
            tag: 'ok' as const,
            value: await readFile(`${baseDir}/${name}/migration.sql`, 'utf8'),
          },
        },
      })),
    ),
  } satisfies MigrationList;
}

/**
 * The statements of all migrations, in order, for one transaction on a database without rows: there no index need be built
 * beside writers, and no transaction may begin or end.
 */
export async function migrationScripts(): Promise<string[]> {
  const { migrationDirectories } = await readMigrations();
  return migrationDirectories.map(({ migrationFile }) =>
    migrationFile.content.value
      .replaceAll('INDEX CONCURRENTLY', 'INDEX')
      .replaceAll(/^(BEGIN|COMMIT);$/gm, ''),
  );
}

async function withEngine<T>(
  adapter: SqlMigrationAwareDriverAdapterFactory,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const schema: [string, string] = [
    'schema.prisma',
    await readFile(`${prismaFolder}schema.prisma`, 'utf8'),
  ];
  // Loaded only when there is work for it: the process never frees its 5 MB of WebAssembly.
  const { loadSchemaEngine } = await import('./schema-engine.ts');
  const Engine = await loadSchemaEngine();
  const engine = await Engine.new(
    { datamodels: [schema] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(adapter),
  );
  try {
    return await work(engine);
  } finally {
    engine.free();
  }
}

/** The migrations of a database, compared with those of this version. */
export interface MigrationState {
  /** Nothing was ever applied. */
  readonly isEmpty: boolean;
  /** Those to be applied. */
  readonly pending: readonly string[];
  /** Those that have begun and not ended. */
  readonly unfinished: readonly string[];
  /** Those that this version does not have. */
  readonly unknown: readonly string[];
}

/** Compares a database's migrations with those of this version. */
export async function migrationState(prisma: PrismaClient): Promise<MigrationState> {
  const names = await readNames();
  const [table] = await prisma.$queryRaw<{ exists: boolean }[]>`
    SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS "exists"`;
  if (!table?.exists) return { isEmpty: true, pending: names, unfinished: [], unknown: [] };
  const rows = await prisma.$queryRaw<{ name: string; isFinished: boolean }[]>`
    SELECT "migration_name" AS "name", "finished_at" IS NOT NULL AS "isFinished"
      FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`;
  const applied = rows.map(({ name }) => name);
  return {
    isEmpty: rows.length === 0,
    pending: names.filter((name) => !applied.includes(name)),
    unfinished: rows.filter(({ isFinished }) => !isFinished).map(({ name }) => name),
    unknown: applied.filter((name) => !names.includes(name)),
  };
}

/**
 * Whether every migration is applied and none has failed: then the engine has nothing to do, and nothing to report.
 */
export async function isMigrated(prisma: PrismaClient): Promise<boolean> {
  const { pending, unfinished } = await migrationState(prisma);
  return pending.length === 0 && unfinished.length === 0;
}

/**
 * Applies the missing migrations and returns their names. The caller must hold a lock, because the engine takes none.
 *
 * @throws {StartError} when a statement lacks a right.
 * @throws when a migration fails; the migrations before it stay applied.
 */
export async function applyMigrations(
  adapter: SqlMigrationAwareDriverAdapterFactory,
): Promise<string[]> {
  const migrationsList = await readMigrations();
  return withEngine(adapter, async (engine) => {
    try {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList,
        filters: noFilter,
      });
      return appliedMigrationNames;
    } catch (cause) {
      const lacking = lackingRight.exec((cause as Error).message)?.[0];
      if (lacking === undefined) throw cause;
      throw new StartError(
        `the database cannot be migrated: ${lacking}. Let the role own the database and its tables`,
        { cause },
      );
    }
  });
}

/**
 * The SQL that leads from the migrations to `schema.prisma`; empty if they agree.
 *
 * @param adapter The migrations are replayed in its shadow database.
 */
export async function diffMigrations(
  adapter: SqlMigrationAwareDriverAdapterFactory,
): Promise<string> {
  const migrationsList = await readMigrations();
  return withEngine(adapter, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: 'migrations', ...migrationsList },
      to: {
        tag: 'schemaDatamodel',
        files: [
          {
            path: 'schema.prisma',
            content: await readFile(`${prismaFolder}schema.prisma`, 'utf8'),
          },
        ],
      },
      script: true,
      exitCode: null,
      filters: noFilter,
    });
    return stdout?.includes('-- This is an empty migration') ? '' : (stdout ?? '');
  });
}
