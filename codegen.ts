import type { CodegenConfig } from '@graphql-codegen/cli';
import { generates, types } from './console/codegen.ts';

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
    ...generates,
  },
};

export default config;
