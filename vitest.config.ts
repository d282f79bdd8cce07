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
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Each file has a database of its own, embedded in its process: some 500 MB.
    maxWorkers: 2,
  },
});
