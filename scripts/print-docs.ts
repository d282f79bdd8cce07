// Writes generated text into the pages, between `<!-- generated: name -->` and `<!-- end -->`. With `--check` it fails
// if a page is not up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopesTable } from './documents/access.ts';
import { pages, readPage, root } from './documents/blocks.ts';
import { abilitiesTable, machinesTable, settingsTable } from './documents/clients.ts';
import { configurationTable } from './documents/configuration.ts';
import { apiErrors, oauthErrorTable } from './documents/errors.ts';
import { eventTypes } from './documents/events.ts';
import { generatorsTable } from './documents/languages.ts';
import { limitTables } from './documents/limits.ts';
import { metricsTable, telemetryTable } from './documents/metrics.ts';
import { protectionTable, signInSettings } from './documents/sign-in.ts';

const parts: Readonly<Record<string, () => string>> = {
  configuration: configurationTable,
  scopes: scopesTable,
  events: eventTypes,
  errors: apiErrors,
  'oauth-errors': oauthErrorTable,
  limits: limitTables,
  'generators-of-the-document': () => generatorsTable('document'),
  'generators-of-the-schema': () => generatorsTable('schema'),
  metrics: metricsTable,
  telemetry: telemetryTable,
  'clients-do': abilitiesTable,
  'clients-settings': settingsTable,
  'clients-machines': machinesTable,
  'sign-in-settings': signInSettings,
  protection: protectionTable,
};

const languages: Readonly<Record<string, string>> = { js: 'js', ts: 'ts', py: 'python' };

function generate(name: string): string {
  const part = parts[name];
  if (part) return part();
  // A file of examples/, unchanged.
  const language = languages[name.split('.').at(-1) ?? ''];
  if (!language) throw new Error(`Nothing generates ${name}.`);
  return `\`\`\`${language}\n${readFileSync(join(root, name), 'utf8')}\`\`\``;
}

for (const page of pages()) {
  const text = readPage(page);
  const printed = text.replaceAll(
    /^<!-- generated: (\S+) -->\n[\s\S]*?^<!-- end -->$/gm,
    (_, name: string) => `<!-- generated: ${name} -->\n${generate(name)}\n<!-- end -->`,
  );
  if (printed === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${page} is not up to date: run \`npm run generate\`.`);
    process.exitCode = 1;
  } else {
    writeFileSync(join(root, page), printed);
  }
}
