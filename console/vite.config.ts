import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    target: 'es2024',
    // The policy allows no data: address.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
