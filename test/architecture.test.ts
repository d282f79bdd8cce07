import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));

// A part may import from those above it. What may not be imported from below is how the parts stay apart.
const order = [
  'ids',
  'languages',
  'config',
  'errors',
  'failures',
  'body-limits',
  'input',
  'clock',
  'generated',
  'db',
  'keys',
  'outbound',
  'services',
  'scheduler',
  'auth',
  'graphql',
  'events',
  'sign-in-experience',
  'dispatch',
  'html',
  'messages',
  'protection',
  'resources',
  'roles',
  'users',
  'factors',
  'applications',
  'subject-tokens',
  'organization-roles',
  'organizations',
  'organization-invitations',
  'identity-providers',
  'factors',
  'signing-keys',
  'service-status',
  'webhooks',
  'oidc',
  'experience',
  'account',
  'console',
  'bootstrap',
  'schema',
  'http',
  'rest',
  'app',
  'main',
];

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.startsWith('generated/'),
);
const partOf = (file: string) => (file.split('/')[0] as string).replace(/\.ts$/, '');
const importsOf = (file: string) =>
  [
    ...readFileSync(join(src, file), 'utf8').matchAll(
      /^(?:import|export)\s[^;]*?from '([^']+)';|^import '([^']+)';/gm,
    ),
  ].map(([, named, bare]) => named ?? (bare as string));

describe('the parts of the source', () => {
  test('are all in the order', () => {
    expect(importsOf('main.ts')).toContain('./app.ts');
    expect(new Set(files.map(partOf)).difference(new Set(order))).toEqual(new Set());
  });

  test.each(files)('%s imports nothing from below its part', (file) => {
    const below = importsOf(file)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => partOf(relative(src, join(src, dirname(file), specifier))))
      .filter((part) => order.indexOf(part) > order.indexOf(partOf(file)));
    expect(below).toEqual([]);
  });

  test('import no ring of files', () => {
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => relative(src, join(src, dirname(file), specifier))),
      ]),
    );
    const done = new Set<string>();
    const ringFrom = (file: string, path: readonly string[]): readonly string[] | undefined => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return undefined;
      for (const next of graph.get(file) ?? []) {
        const ring = ringFrom(next, [...path, file]);
        if (ring) return ring;
      }
      done.add(file);
      return undefined;
    };
    expect(files.flatMap((file) => ringFrom(file, []) ?? [])).toEqual([]);
  });
});

test('no room holds more than fifteen files', () => {
  const tests = fileURLToPath(new URL('./', import.meta.url));
  const all = [src, tests].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const rooms = Map.groupBy(
    all.filter((file) => file.endsWith('.ts') && !file.includes('/generated/')),
    dirname,
  );
  const crowded = [...rooms].filter(([, { length }]) => length > 15);
  expect(crowded.map(([room, { length }]) => `${room}: ${length}`)).toEqual([]);
});

describe('a concern has one place', () => {
  test.each([
    ['process.env', /\bprocess\.env\b/, ['main.ts']],
    ['the clock of the machine', /\bDate\.now\(|new Date\(\)/, ['clock.ts']],
    ['graphql-yoga', /from 'graphql-yoga/, ['http/']],
    ['jose', /from 'jose'/, ['keys/', 'auth/', 'oidc/', 'signing-keys/']],
  ])('%s', (_what, pattern, places) => {
    const elsewhere = files.filter(
      (file) =>
        !places.some((place) => file.startsWith(place)) &&
        pattern.test(readFileSync(join(src, file), 'utf8')),
    );
    expect(elsewhere).toEqual([]);
  });
});
