// Prints the GraphQL schemas into their files. With `--check` it fails if one is not up to date.
import { readFile, writeFile } from 'node:fs/promises';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { accountSchema, experienceSchema, schema } from '../src/schema.ts';

const schemas = {
  'schema.graphql': schema,
  'experience.graphql': experienceSchema,
  'account.graphql': accountSchema,
};

for (const [name, printable] of Object.entries(schemas)) {
  const file = new URL(`../${name}`, import.meta.url);
  const printed = `${printSchema(lexicographicSortSchema(printable))}\n`;
  if (!process.argv.includes('--check')) {
    await writeFile(file, printed);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== printed) {
    console.error(`${name} is not up to date: run \`npm run generate\`.`);
    process.exitCode = 1;
  }
}
