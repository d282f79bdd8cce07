import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));
const tests = fileURLToPath(new URL('./', import.meta.url));

// A part may import from those above it. What may not be imported from below is how the parts stay apart.
const order = [
  'ids',
  'languages',
  'markup',
  'config',
  'errors',
  'failures',
  'body-limits',
  'text',
  'input',
  'clock',
  'metrics',
  'tracing',
  'generated',
  'db',
  'keys',
  'outbound',
  'admission',
  'services',
  'scheduler',
  'auth',
  'graphql',
  'events',
  'sign-in-experience',
  'service-settings',
  'secret-rotation',
  'dispatch',
  'messages',
  'protection',
  'resources',
  'roles',
  'organization-roles',
  'role-holders',
  'users',
  'factors',
  'applications',
  'subject-tokens',
  'organizations',
  'organization-invitations',
  'permissions',
  'web',
  'proving',
  'identity-providers',
  'signing-keys',
  'service-status',
  'webhooks',
  'oidc',
  'experience',
  'account',
  'console',
  'configuration',
  'bootstrap',
  'schema',
  'http',
  'rest',
  'authzen',
  'mcp',
  'workers',
  'app',
  'main',
  'cli',
];

/** The sources of a folder, and which of them import which. */
function sourcesIn(root: string) {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !file.startsWith('generated/'),
  );
  const imports = new Map(
    names.map((file) => [
      file,
      [
        ...readFileSync(join(root, file), 'utf8').matchAll(
          /^(?:import|export)\s[^;]*?from '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
        ),
      ].map(([, named, bare, lazy]) =>
        relative(root, join(root, dirname(file), named ?? bare ?? (lazy as string))),
      ),
    ]),
  );
  return { names, imports };
}

const topOf = (file: string) => (file.split('/')[0] as string).replace(/\.tsx?$/, '');

/** What a file imports from below its part. */
function belowIn(
  imports: ReadonlyMap<string, readonly string[]>,
  file: string,
  rankOf: (file: string) => number,
): string[] {
  return (imports.get(file) ?? []).filter((imported) => rankOf(imported) > rankOf(file));
}

function ringsIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const ringFrom = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of imports.get(file) ?? []) {
      const ring = ringFrom(next, [...path, file]);
      if (ring) return ring;
    }
    done.add(file);
    return undefined;
  };
  return [...imports.keys()].flatMap((file) => ringFrom(file, []) ?? []);
}

const { names: files, imports } = sourcesIn(src);

describe('the parts of the source', () => {
  test('are all in the order', () => {
    expect(imports.get('main.ts')).toContain('app.ts');
    expect(new Set(files.map(topOf)).difference(new Set(order))).toEqual(new Set());
  });

  test.each(files)('%s imports nothing from below its part', (file) => {
    expect(belowIn(imports, file, (one) => order.indexOf(topOf(one)))).toEqual([]);
  });

  test('import no ring of files', () => {
    expect(ringsIn(imports)).toEqual([]);
  });
});

const consoleSrc = fileURLToPath(new URL('../console/src/', import.meta.url));

// The console's building blocks, in their order; what it knows of the API's types comes first.
const kit = [
  'generated',
  'kit/store',
  'kit/service-url',
  'kit/address',
  'kit/toasts',
  'kit/save-file',
  'kit/language',
  'kit/theme',
  'kit/session',
  'kit/api',
  'kit/controls',
  'kit/states',
  'kit/dialogs',
  'kit/forms',
  'kit/records',
  'kit/lists',
];

// What all pages are in, and what knows all pages.
const around = ['shell', 'routes', 'main'];

// Every record shows its part of the log, and people and applications what they may do.
const importedByOthers = ['events', 'permissions'];

describe('the console', () => {
  const { names, imports } = sourcesIn(consoleSrc);
  const partOf = (file: string) =>
    topOf(file) === 'kit' ? `kit/${topOf(file.slice('kit/'.length))}` : topOf(file);
  const features = [...new Set(names.map(partOf))].filter(
    (part) => !kit.includes(part) && !around.includes(part),
  );
  const order = [...kit, 'features', ...around];
  const rankOf = (file: string) =>
    order.indexOf(features.includes(partOf(file)) ? 'features' : partOf(file));

  test('has features, and building blocks that are all in the order', () => {
    expect(imports.get('main.tsx')).toContain('routes.tsx');
    expect(features).toContain('users');
    expect(features.filter((part) => part.startsWith('kit/'))).toEqual([]);
  });

  test.each(names)('%s imports nothing from below its part', (file) => {
    expect(belowIn(imports, file, rankOf)).toEqual([]);
  });

  test('imports no ring of files', () => {
    expect(ringsIn(imports)).toEqual([]);
  });

  test('has features that import no other, and a shell that imports none', () => {
    const across = names
      .filter((file) => [...features, 'shell'].includes(partOf(file)))
      .flatMap((file) =>
        (imports.get(file) ?? [])
          .filter(
            (imported) =>
              features.includes(partOf(imported)) &&
              partOf(imported) !== partOf(file) &&
              (partOf(file) === 'shell' || !importedByOthers.includes(partOf(imported))),
          )
          .map((imported) => `${file} → ${imported}`),
      );
    expect(across).toEqual([]);
  });

  test('imports nothing of the service', () => {
    const outside = names.flatMap((file) =>
      (imports.get(file) ?? []).filter((imported) => imported.startsWith('..')),
    );
    expect(outside).toEqual([]);
  });
});

test('what the console and the service both use has one version', () => {
  const read = (path: string) =>
    JSON.parse(readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8'));
  const service = read('../package.json');
  const console = read('../console/package.json');
  expect(console.dependencies).toBeUndefined();
  expect({ ...service.devDependencies, ...service.dependencies }).toMatchObject(
    Object.fromEntries(
      Object.entries(console.devDependencies).filter(
        ([name]) => name in service.dependencies || name in service.devDependencies,
      ),
    ),
  );
});

test('README names every folder of the source, and no other', () => {
  const [, rows = ''] = readFileSync(
    fileURLToPath(new URL('../README.md', import.meta.url)),
    'utf8',
  ).split('| folder | what |');
  const named = [...rows.matchAll(/^\| (`src\/.*?) \|/gm)].flatMap(([, cell = '']) => {
    const [first = '', ...others] = [...cell.matchAll(/`(?:src\/)?(.*?)`/g)].map(
      ([, name]) => name,
    );
    // Beside `oidc/token`, `provider` is a folder of `oidc`.
    const parent = first.includes('/') ? `${dirname(first)}/` : '';
    return [first, ...others.map((name) => `${parent}${name}`)];
  });
  const folders = new Set(
    readdirSync(src, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => relative(src, join(entry.parentPath, entry.name))),
  );
  expect(named.filter((name) => !folders.has(name))).toEqual([]);
  expect(
    [...folders].filter(
      (folder) => !folder.includes('/') && !named.some((name) => topOf(name) === folder),
    ),
  ).toEqual(['generated']);
});

test('no room holds more than fifteen files', () => {
  const all = [src, consoleSrc, tests].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const rooms = Map.groupBy(
    all.filter((file) => /\.tsx?$/.test(file) && !file.includes('/generated/')),
    dirname,
  );
  const crowded = [...rooms].filter(([, { length }]) => length > 15);
  expect(crowded.map(([room, { length }]) => `${room}: ${length}`)).toEqual([]);
});

describe('a concern has one place', () => {
  test.each([
    ['process.env', /\bprocess\.env\b/, ['main.ts', 'cli/main.ts']],
    ['the clock of the machine', /\bDate\.now\(|new Date\(\)/, ['clock.ts']],
    ['graphql-yoga', /from 'graphql-yoga/, ['http/']],
    ['metrics', /new (Counter|Gauge|Histogram|Summary)\b/, ['metrics/']],
    ['jose', /from 'jose'/, ['keys/', 'auth/', 'oidc/', 'signing-keys/']],
    [
      // Whoever else changes a row tells of it: see `db/told.ts`. What a file here writes is no record of its own.
      'transactions of which no event tells',
      /\bquietTransaction\b/,
      [
        'db/transaction.ts',
        'db/migrations/domain-spellings.ts',
        'db/migrations/sequences.ts',
        'bootstrap.ts',
        'scheduler.ts',
        'console/setup-token.ts',
        'keys/kept-keys.ts',
        'secret-rotation/rewrite.ts',
        'experience/interaction.ts',
        'messages/operations.ts',
        'oidc/provider/storage/adapter.ts',
        'oidc/token/assertions/person.ts',
        'protection/refusals/write.ts',
        'proving/passkeys.ts',
        'resources/spellings.ts',
        'service-status/nodes.ts',
        'webhooks/delivery/',
      ],
    ],
    [
      'writes outside of a transaction',
      /\bprisma\.\w+\.(create|update|delete|upsert)/,
      [
        'events/sinks/start.ts',
        'experience/',
        'factors/passkeys/challenges.ts',
        'graphql/mutations/once.ts',
        'identity-providers/federation.ts',
        'messages/queue.ts',
        'oidc/',
        'protection/attempts.ts',
        'secret-rotation/use.ts',
        // A digest that is made anew of the same password.
        'users/password.ts',
        'web/sent-forms/',
        'webhooks/delivery/',
      ],
    ],
    ['proofs that an event tells of a change', /\bnew Told\b/, ['db/told.ts', 'events/record.ts']],
  ])('%s', (_what, pattern, places) => {
    const elsewhere = files.filter(
      (file) =>
        !places.some((place) => file.startsWith(place)) &&
        pattern.test(readFileSync(join(src, file), 'utf8')),
    );
    expect(elsewhere).toEqual([]);
  });
});

describe('a concern of the tests has one place', () => {
  const { names } = sourcesIn(tests);
  test.each([
    [
      'waiting and timers',
      /\bset(?:Timeout|Interval)\b(?!')|\btimers\/promises\b|\bsleep\(|\bwaitFor(?:Timeout)\b|\bvi\.wait|\bscheduler\.wait\b|\bAtomics\.wait/,
      ['support/wait.ts'],
    ],
    [
      // What a run took is a finding of the benches; no test asks for it.
      'elapsed time',
      /\bperformance\.now\b|\bhrtime\b|\bconsole\.time/,
      ['support/nothing-lost.ts'],
    ],
  ])('%s', (_what, pattern, places) => {
    const elsewhere = names
      .filter((file) => !places.includes(file) && !file.startsWith('fixtures/'))
      .flatMap((file) =>
        readFileSync(join(tests, file), 'utf8')
          .split('\n')
          .flatMap((line, index) =>
            pattern.test(line) ? [`test/${file}:${index + 1}: ${line.trim()}`] : [],
          ),
      );
    expect(elsewhere).toEqual([]);
  });
});
