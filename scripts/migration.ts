// Writes a new migration with the SQL that leads from the migrations to schema.prisma: `npm run migration --
// add_something`. With `--check` it writes nothing, and fails if something is missing.
import { mkdir, writeFile } from 'node:fs/promises';
import { EmbeddedAdapter } from '../src/db/embedded/adapter.ts';
import { engineHere } from '../src/db/embedded/engine.ts';
import { openEmbedded } from '../src/db/embedded/open.ts';
import { diffMigrations } from '../src/db/migrations/migrate.ts';

const name = process.argv[2];
if (!name) {
  console.error('usage: npm run migration -- <name> | --check');
  process.exit(1);
}

const engine = engineHere(await openEmbedded({}), {});
const sql = await diffMigrations(new EmbeddedAdapter(engine));
await engine.close();

if (sql === '') {
  console.log('The migrations and schema.prisma agree.');
} else if (name === '--check') {
  console.error(`schema.prisma has changes without a migration:\n${sql}`);
  process.exitCode = 1;
} else {
  const stamp = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const folder = new URL(`../prisma/migrations/${stamp}_${name}/`, import.meta.url);
  await mkdir(folder);
  await writeFile(new URL('migration.sql', folder), sql);
  console.log(
    `Wrote prisma/migrations/${stamp}_${name}/migration.sql: read it before you commit it.`,
  );
}
