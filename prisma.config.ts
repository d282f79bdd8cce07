import { defineConfig } from 'prisma-cli/config';

// `prisma generate` looks for a schema engine, would download one, and never runs it: any program will do.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath;

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
});
