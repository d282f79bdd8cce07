// Prints the GraphQL schema into schema.graphql; with `--check` it fails where the file is not up to date.
import { readFile, writeFile } from 'node:fs/promises';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../src/schema.ts';

const file = new URL('../schema.graphql', import.meta.url);
const printed = `${printSchema(lexicographicSortSchema(schema))}\n`;

if (!process.argv.includes('--check')) {
  await writeFile(file, printed);
} else if ((await readFile(file, 'utf8').catch(() => '')) !== printed) {
  console.error('schema.graphql is not up to date: run `npm run generate`.');
  process.exitCode = 1;
}
