import type { CodegenConfig } from '@graphql-codegen/cli';

const types = {
  useTypeImports: true,
  enumsAsTypes: true,
  emitLegacyCommonJSImports: false,
  importExtension: '.ts',
  strictScalars: true,
  scalars: {
    DateTime: 'string',
    EmailAddress: 'string',
    JSON: 'unknown',
    JSONObject: 'Record<string, unknown>',
    PhoneNumber: 'string',
    URL: 'string',
  },
} as const;

// Types the documents that the tests, the demo, the benches and the console send; `schema.graphql` is the contract they
// are held to.
const config: CodegenConfig = {
  schema: 'schema.graphql',
  ignoreNoDocuments: true,
  generates: {
    'test/generated/': {
      documents: [
        'test/**/*.ts',
        'examples/{,single-page-app/}*.ts',
        'bench/**/*.ts',
        '!test/generated/**',
      ],
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: { ...types, documentMode: 'string' },
    },
    // The console takes the types alone: its documents stay in the chunk of the route that sends them.
    'console/src/generated/': {
      documents: ['console/src/**/*.{ts,tsx}', '!console/src/generated/**'],
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: types,
    },
  },
};

export default config;
