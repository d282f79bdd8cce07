import type { CodegenConfig } from '@graphql-codegen/cli';

export default {
  schema: '../../schema.graphql',
  documents: 'clients/graphql-codegen.ts',
  generates: {
    'generated/graphql-codegen/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        documentMode: 'string',
        // Scalars that are not listed are `any`.
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
    // For Apollo Client, whose cache otherwise drops what `... on Error` asks for.
    'generated/graphql-codegen/possible-types.ts': {
      plugins: ['fragment-matcher'],
      config: { apolloClientVersion: 3, useExplicitTyping: true },
    },
  },
  importExtension: '.ts',
} satisfies CodegenConfig;
