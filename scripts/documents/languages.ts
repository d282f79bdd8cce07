import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './blocks.ts';
import { code, codes, table } from './markdown.ts';

/** Where the clients are that generators make. */
export const languagesFolder = 'examples/from-your-language';

/** A client that `npm run test:languages` generates, compiles and runs. */
export interface GeneratedClient {
  readonly name: string;
  /** What it is made from; `none` for what takes the API as it is. */
  readonly source: 'schema' | 'document' | 'none';
  readonly packages: readonly string[];
  /** The script of its package.json that generates. */
  readonly generate?: string;
  /** The media types of its patches, in order. */
  readonly patches?: readonly string[];
  /** What it is in, with what is installed for that; by default TypeScript, with the packages here. */
  readonly language?: 'Python' | 'Java';
  /** The path of a refused field, as its language prints a list. */
  readonly path?: string;
  /** What it prints besides. */
  readonly besides?: readonly string[];
}

const json = 'application/json';
const mergePatch = 'application/merge-patch+json';

export const generatedClients: readonly GeneratedClient[] = [
  {
    name: 'openapi-typescript',
    source: 'document',
    packages: ['openapi-typescript', 'openapi-fetch'],
    generate: 'generate:openapi-typescript',
    patches: [mergePatch, json],
  },
  {
    name: 'hey-api',
    source: 'document',
    packages: ['@hey-api/openapi-ts'],
    generate: 'generate:hey-api',
    patches: [mergePatch, json],
  },
  {
    name: 'orval',
    source: 'document',
    packages: ['orval'],
    generate: 'generate:orval',
    patches: [mergePatch],
  },
  {
    name: 'quicktype',
    source: 'document',
    packages: ['quicktype'],
    generate: 'generate:quicktype',
    patches: [mergePatch, json],
    language: 'Java',
    path: '[username]',
  },
  {
    name: 'graphql-codegen',
    source: 'schema',
    packages: ['@graphql-codegen/cli', '@graphql-codegen/client-preset'],
    generate: 'generate:graphql-codegen',
  },
  {
    name: 'gql-tada',
    source: 'schema',
    packages: ['gql.tada'],
    generate: 'generate:gql-tada',
  },
  {
    name: 'genql',
    source: 'schema',
    packages: ['@genql/cli', '@genql/runtime', 'graphql'],
    generate: 'generate:genql',
  },
  {
    name: 'apollo-client',
    source: 'schema',
    packages: ['@apollo/client', 'graphql-ws', 'graphql-sse', '@graphql-codegen/fragment-matcher'],
    generate: 'generate:graphql-codegen',
    besides: [
      'because Another user has this user name.',
      'followed User.Created',
      'followed by SSE User.Created',
      'by its own link 406 The answer is application/graphql-response+json or application/json, and for subscriptions text/event-stream (or graphql-transport-ws over WebSocket).',
    ],
  },
  {
    name: 'hive-gateway',
    source: 'none',
    packages: ['@graphql-hive/gateway-runtime', '@graphql-mesh/transport-http'],
    besides: ['without a token UNAUTHENTICATED'],
  },
  {
    name: 'graphql-core',
    source: 'none',
    packages: [],
    language: 'Python',
    path: "['username']",
    besides: [
      "not sent: Cannot query field 'userName' on type 'User'. Did you mean 'username' or 'name'?",
    ],
  },
];

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The file that uses what was generated. */
export function fileOf({ name, language }: GeneratedClient): string {
  if (language === 'Python') return `${name}.py`;
  return language === 'Java'
    ? `${name.charAt(0).toUpperCase()}${name.slice(1)}.java`
    : `${name}.ts`;
}

/** The packages with the versions that were tried. */
export function packagesOf({ packages }: GeneratedClient): readonly string[] {
  const { devDependencies } = manifest();
  return packages.map((name) => `${name}@${devDependencies[name]}`);
}

const manifest = (): Manifest =>
  JSON.parse(readFileSync(join(root, languagesFolder, 'package.json'), 'utf8'));

/** The generators of one source: their packages, how each generates, and the file that uses what it generated. */
export const generatorsTable = (source: GeneratedClient['source']): string => {
  const { scripts } = manifest();
  return table(
    ['packages', 'generate with', 'used in'],
    generatedClients
      .filter((client) => client.source === source)
      .map((client) => [
        codes(packagesOf(client)),
        code(scripts[client.generate ?? ''] ?? ''),
        `[${fileOf(client)}](../${languagesFolder}/clients/${fileOf(client)})`,
      ]),
  );
};
