import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: [
      // Vite would take graphql's development build for our files and Node the other for the libraries': two copies.
      { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/after-file.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Files share the modules of their worker: importing the service takes longer than most files' tests. What
    // a file starts is its own all the same: a service, a database, a port.
    isolate: false,
    // Each file has a database of its own, embedded in its process: some 500 MB.
    maxWorkers: 2,
  },
});
