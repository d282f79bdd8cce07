import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What pages look like, what no database is in, data folders, and what a protocol says while other tests try its
// records, are tried on the embedded database alone.
const triedOnce = [
  'test/account/no-dead-end.test.ts',
  'test/account/pages.test.ts',
  'test/account/passkey-page.test.ts',
  'test/app.test.ts',
  'test/architecture.test.ts',
  'test/console/browser.test.ts',
  'test/console/screens/{applications,exchange-explained,organizations,record-pages}.test.ts',
  'test/console/screens/{shell,sign-in-and-keys,users}.test.ts',
  'test/console/sizes.test.ts',
  'test/db/embedded/**',
  'test/documents.test.ts',
  'test/experience/accessibility.test.ts',
  'test/experience/dead-ends.test.ts',
  'test/experience/federation/chromium.test.ts',
  'test/experience/federation/dead-ends.test.ts',
  'test/experience/keyboard.test.ts',
  'test/experience/passkeys/fuzz.test.ts',
  'test/experience/passkeys/pages.test.ts',
  'test/factors/passkeys/vectors.test.ts',
  'test/graphql/extremes.test.ts',
  'test/http/assets.test.ts',
  'test/http/graphiql/**',
  'test/http/welcome.test.ts',
  'test/oidc/certification/certification.test.ts',
  'test/oidc/mount.test.ts',
  'test/oidc/provider/self-submitting.test.ts',
  'test/outbound/**',
  'test/rest/docs.test.ts',
  'test/run-tests.test.ts',
  'test/seed.test.ts',
  'test/start/data-folder.test.ts',
];

/** Starts with what takes long, so that no worker is left with it alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { ordeals = [], others = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      moduleId.includes('/test/ordeals/') ? 'ordeals' : 'others',
    );
    return [...ordeals, ...others];
  }
}

const isOnServer = process.env['TEST_DATABASE_URL'] !== undefined;

export default defineConfig({
  resolve: {
    alias: [
      // Vite would take graphql's development build for our files and Node the other for the libraries': two copies.
      { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(isOnServer ? triedOnce : [])],
    globalSetup: ['test/support/global-setup.ts'],
    // For the processes that tests start: the service, some hundred times.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)),
    },
    setupFiles: ['test/support/after-file.ts'],
    sequence: { sequencer: LongFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Files share the modules of their worker: importing the service takes longer than most files' tests. What
    // a file starts is its own all the same: a service, a database, a port.
    isolate: false,
    // Each file has a database of its own, embedded in its process: some 500 MB.
    maxWorkers: 2,
  },
});
