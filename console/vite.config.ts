import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  experimental: {
    // The service's public address may have a path: what is built finds its neighbours from where it is.
    renderBuiltUrl: (_file, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  build: {
    target: 'es2024',
    // Which chunk needs which others; the service does not serve it.
    manifest: 'manifest.json',
    // The policy allows no data: address.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // One is large: the query editor with the GraphQL language, which loads once somebody goes into such a field.
    chunkSizeWarningLimit: 650,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Every other page is made of more building blocks than the first: these come once, in place of a part with each.
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            { name: 'blocks', test: /\/console\/src\/kit\// },
          ],
        },
      },
    },
  },
});
