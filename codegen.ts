import type { CodegenConfig } from '@graphql-codegen/cli';

// Types the documents that tests, the demo and the benches send; `schema.graphql` is the contract they are held to.
const config: CodegenConfig = {
  schema: 'schema.graphql',
  documents: ['test/**/*.ts', 'examples/**/*.ts', 'bench/**/*.ts', '!test/generated/**'],
  ignoreNoDocuments: true,
  generates: {
    'test/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
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
      },
    },
  },
};

export default config;
