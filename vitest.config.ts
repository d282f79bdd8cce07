import { globSync, readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { patienceMs } from './test/support/peers/patience.ts';

// The rings: what has a browser is `pages`; what has other processes, kills, fuzz or certification is `ordeals`; what
// has other people's packages is `interop`; all else is `tests`. A file is in a ring by what it imports, or by its folder.
const hasBrowser = /support\/(peers\/chromium|people\/(console-screen|page-drivers))/;
const hasProcesses = /support\/(peers\/(nats|postgresql)|process|ordeal\/)|node:child_process/;
const rings = ['ordeals', 'pages', 'interop', 'tests'];
const ofOrdeals = [
  'test/fuzz/**',
  'test/oidc/certification/**',
  'test/operating/**',
  'test/ordeals/**',
];

// What a server can do otherwise than the embedded PostgreSQL: locks, connections, plans, restarts, and the statements
// that depend on them. All else is decided above the database.
const ofTheDatabase = [
  'test/{admission,db,events,operating,operations,ordeals,protection,start,webhooks,workers}/**',
  'test/{secret-rotation,service-status,signing-keys,users}/**',
  'test/auth/granting/{openings,races}.test.ts',
  'test/cli/{create-admin,doctor}.test.ts',
  'test/fuzz/imports.test.ts',
  'test/graphql/{extremes.test.ts,lists/**,safe-writes/**}',
  'test/http/{subscriptions/**,unavailable.test.ts}',
  'test/messages/{killed,outbox,queue}.test.ts',
  'test/metrics/metrics.test.ts',
  'test/oidc/{registration/purge,unavailable}.test.ts',
  'test/oidc/{sessions,token}/**',
  'test/oidc/provider/{refresh-*.test.ts,storage/**}',
  'test/organizations/{concurrency,statements}.test.ts',
  'test/permissions/worlds.test.ts',
  'test/{at-rest,burst,operational}.test.ts',
];

// What a PostgreSQL has no part in: these have no database, a data folder, or only rows to show.
const onEmbeddedAlone = [
  'test/app.test.ts',
  'test/architecture.test.ts',
  'test/console/sizes.test.ts',
  'test/db/embedded/**',
  'test/deploy.test.ts',
  'test/documents.test.ts',
  'test/factors/passkeys/vectors.test.ts',
  'test/graphql/operations/**',
  'test/http/assets.test.ts',
  'test/http/graphiql/mount.test.ts',
  'test/http/welcome.test.ts',
  'test/outbound/**',
  'test/ordeals/paused-copy.test.ts',
  'test/rest/docs.test.ts',
  'test/run-tests.test.ts',
  'test/seed.test.ts',
  'test/start/data-folder.test.ts',
];

const isOnServer = process.env['TEST_DATABASE_URL'] !== undefined;
const isIn = (globs: readonly string[]) => (path: string) =>
  globs.some((glob) => matchesGlob(path, glob));
const isOfTheDatabase = isIn(ofTheDatabase);
const files = globSync('test/**/*.test.ts', { cwd: import.meta.dirname }).map((path) => {
  const source = readFileSync(join(import.meta.dirname, path), 'utf8');
  if (matchesGlob(path, 'test/interop/**')) return { path, ring: 'interop' };
  if (hasBrowser.test(source)) return { path, ring: 'pages' };
  if (hasProcesses.test(source) || isIn(ofOrdeals)(path)) return { path, ring: 'ordeals' };
  return { path, ring: 'tests' };
});

// A net for what never ends. Nothing waits for less, so that no test fails because the machine has other work; what
// starts, kills and starts again needs the most of it.
const testTimeoutOf = (ring: string) => (ring === 'tests' ? 3 : 10) * patienceMs;

const project = (name: string, ring: string, isIncluded: (path: string) => boolean) => ({
  extends: true as const,
  test: {
    name,
    testTimeout: testTimeoutOf(ring),
    include: files
      .filter((file) => file.ring === ring && isIncluded(file.path))
      .map(({ path }) => path),
    exclude: [...configDefaults.exclude, ...(isOnServer ? onEmbeddedAlone : [])],
  },
});

// On a server, a ring is in two projects, so that what can differ there runs alone: `*-of-the-database`.
const projectsOf = (ring: string) =>
  isOnServer && ring !== 'pages'
    ? [
        project(ring, ring, (path) => !isOfTheDatabase(path)),
        project(`${ring}-of-the-database`, ring, isOfTheDatabase),
      ]
    : [project(ring, ring, () => true)];

/**
 * Starts with what takes long, so that no worker is left with it alone at the end. One project follows the other: a
 * worker is of one project.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      2 * rings.findIndex((ring) => project.name.startsWith(ring)) +
      (/\/test\/ordeals\/|dead-ends?\.test/.test(moduleId) ? 0 : 1);
    // Otherwise by their last time on this machine, or else by their size, which says little of these.
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: {
    alias: [
      // Vite would take graphql's development build for our files and Node the other for the libraries': two copies.
      { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) },
    ],
  },
  test: {
    projects: rings.flatMap(projectsOf),
    globalSetup: ['test/support/global-setup.ts'],
    // As the service is started (`src/start.sh`).
    execArgv: ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'],
    setupFiles: ['test/support/after-file.ts'],
    sequence: { sequencer: LongFirst },
    hookTimeout: 3 * patienceMs,
    expect: { poll: { timeout: patienceMs } },
    // Files share the modules of their worker: importing the service takes longer than most files' tests. What
    // a file starts is its own all the same: a service, a database, a port.
    isolate: false,
    // One more than cores: some wait. A worker grows to some 1.5 GB: the service, an embedded database, at times a browser.
    maxWorkers: Math.max(2, Math.min(availableParallelism() + 1, Math.floor(totalmem() / 2 ** 31))),
  },
});
