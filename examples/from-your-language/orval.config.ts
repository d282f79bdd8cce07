import { defineConfig } from 'orval';

export default defineConfig({
  signet: {
    input: './openapi.json',
    output: {
      target: 'generated/orval/signet.ts',
      client: 'fetch',
      override: { mutator: { path: './clients/orval-fetch.ts', name: 'send' } },
    },
  },
});
