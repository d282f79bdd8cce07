import { globSync, readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { patienceMs } from './test/support/peers/patience.ts';

// What a test starts or drives beside its own process: a browser, a service, a server, a program.
const beside =
  /support\/(peers\/(chromium|nats|postgresql)|people\/(console-screen|page-drivers)|process|ordeal\/)|node:child_process/;

// What a process does with its data folder, and what is there after a kill, is another thing on each database.
const ofTheDatabase = [
  'test/cli/create-admin.test.ts',
  'test/db/embedded/data-dir.test.ts',
  'test/db/embedded/full-disk.test.ts',
  'test/messages/killed.test.ts',
  'test/oidc/token/killed.test.ts',
  'test/ordeals/durability.test.ts',
  'test/ordeals/nothing-half-written.test.ts',
  'test/ordeals/nothing-lost.test.ts',
  'test/ordeals/restored-files.test.ts',
  'test/seed.test.ts',
  'test/start/data-folder.test.ts',
];

// What PostgreSQL has no part in: these have no database, a data folder, or only rows to show.
const onEmbeddedAlone = [
  'test/app.test.ts',
  'test/architecture.test.ts',
  'test/console/sizes.test.ts',
  'test/db/embedded/**',
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

// What is decided above the database, tried by many cases. The statements behind it run in the other files of the room,
// on both databases; these run once, on PostgreSQL, where there is one.
const aboveTheDatabase = globSync(
  [
    'test/account/{attacks,mutations,no-dead-end,proof-by-provider,proof-by-sign-in,thief,ways-in}.test.ts',
    'test/auth/granting/{after-*,before,daily,races}.test.ts',
    'test/console/{files,graphql,roles,session,setup,sign-in}.test.ts',
    'test/events/subscription-access.test.ts',
    'test/experience/{dead-ends,expiry,headless,no-dead-end,no-oracle,review}.test.ts',
    'test/experience/factors/passkey-theft.test.ts',
    'test/experience/federation/{attacks,dead-ends,enterprise,failed,freshness,headless,hostile-provider,linking,mix-up}.test.ts',
    'test/experience/pages/*.test.ts',
    'test/experience/passkeys/*.test.ts',
    'test/fuzz/*.test.ts',
    'test/graphql/{access,errors,extremes,http-audit,input-issues,limits,malformed-ids,paths}.test.ts',
    'test/http/*.test.ts',
    'test/http/subscriptions/*.test.ts',
    'test/messages/senders/*.test.ts',
    'test/oidc/certification/*.test.ts',
    'test/oidc/consent/management.test.ts',
    'test/oidc/provider/{discovery,id-token,public-url,request-bounds,step-up}.test.ts',
    'test/oidc/token-story.test.ts',
    'test/oidc/token/{errors,explanation,management,refused}.test.ts',
    'test/operations/refusals.test.ts',
    'test/organizations/statements.test.ts',
    'test/protection/{addresses,faults}.test.ts',
    'test/protection/refusals/bounds.test.ts',
    'test/rest/{openapi,rest}.test.ts',
    'test/users/{password,void-codes}.test.ts',
    'test/webhooks/delivery/endpoints.test.ts',
    'test/webhooks/endpoint/query.test.ts',
  ],
  { cwd: import.meta.dirname },
);

const isOnServer = process.env['TEST_DATABASE_URL'] !== undefined;
const all = globSync('test/**/*.test.ts', { cwd: import.meta.dirname });
const operating = all.filter((path) => path.startsWith('test/operating/'));
const others = all.filter((path) => !operating.includes(path));
const slow = others.filter((path) => beside.test(readFileSync(path, 'utf8')));
const quick = others.filter((path) => !slow.includes(path));
const isOnce = (path: string) =>
  aboveTheDatabase.includes(path) && !onEmbeddedAlone.some((alone) => matchesGlob(path, alone));

// A net for what never ends. Nothing waits for less, so that no test fails because the machine has other work; what
// starts, kills and starts again needs the most of it.
const testTimeoutOf = (name: string) => (name.startsWith('quick') ? 1.5 : 5) * patienceMs;

const project = (name: string, include: readonly string[]) => ({
  extends: true as const,
  test: {
    name,
    testTimeout: testTimeoutOf(name),
    include: [...include],
    exclude: [...configDefaults.exclude, ...(isOnServer ? onEmbeddedAlone : [])],
  },
});

/**
 * Starts with what takes long, so that no worker is left with it alone at the end. One project follows the other: a
 * worker is of one project.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      if (project.name.startsWith('quick')) return /dead-ends?\.test/.test(moduleId) ? 2 : 3;
      return /\/test\/ordeals\//.test(moduleId) ? 0 : 1;
    };
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
    // `npm test` runs the quick ones, `npm run test:slow` the others, `npm run test:embedded` those of the database.
    projects: [
      // On a server, all of them run.
      ...(isOnServer
        ? [project('quick', quick), project('slow', slow)]
        : [
            project('quick', quick.filter(isOnce)),
            project(
              'quick-of-the-database',
              quick.filter((path) => !isOnce(path)),
            ),
            project(
              'slow',
              slow.filter((path) => !ofTheDatabase.includes(path)),
            ),
            project('slow-of-the-database', ofTheDatabase),
          ]),
      project('operating', operating),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    // For the processes that tests start: the service, some hundred times.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)),
    },
    setupFiles: ['test/support/after-file.ts'],
    sequence: { sequencer: LongFirst },
    hookTimeout: 1.5 * patienceMs,
    expect: { poll: { timeout: patienceMs } },
    // Files share the modules of their worker: importing the service takes longer than most files' tests. What
    // a file starts is its own all the same: a service, a database, a port.
    isolate: false,
    // One more than cores: some wait. A worker grows to some 1.5 GB: the service, an embedded database, at times a browser.
    maxWorkers: Math.max(2, Math.min(availableParallelism() + 1, Math.floor(totalmem() / 2 ** 31))),
  },
});
