import type { CodegenConfig } from '@graphql-codegen/cli';

/** How documents are typed, here and in the tests. */
export const types = {
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

/** The console takes the types alone: its documents stay in the chunk of the route that sends them. */
export const generates: CodegenConfig['generates'] = {
  'console/src/generated/': {
    documents: ['console/src/**/*.{ts,tsx}', '!console/src/generated/**'],
    preset: 'client',
    presetConfig: { fragmentMasking: false },
    config: types,
  },
};

// Types the console's documents alone, for its build.
const config: CodegenConfig = { schema: 'schema.graphql', ignoreNoDocuments: true, generates };

export default config;
