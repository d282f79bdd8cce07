import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { restOperations } from '../../src/rest/mount.ts';
import { createOpenApi } from '../../src/rest/openapi.ts';
import { areInstalled, pathOf } from './example-process.ts';

interface Item {
  readonly items?: readonly Item[];
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly params: readonly Parameter[];
    readonly headers: readonly Parameter[];
    readonly body: { readonly mode: string; readonly json: string | null };
  };
}

interface Parameter {
  readonly name: string;
  readonly value: string;
  readonly enabled: boolean;
}

const requestsOf = (items: readonly Item[]): readonly Item[] =>
  items.flatMap((item) => (item.items ? requestsOf(item.items) : [item]));

test.runIf(areInstalled('postman'))(
  'Bruno imports every request, with the examples, and sends nothing that may be left out',
  async () => {
    const { openApiToBruno } = createRequire(pathOf('postman/package.json'))(
      '@usebruno/converters',
    ) as { openApiToBruno(document: object): Promise<{ items: readonly Item[] }> };
    const document = createOpenApi(restOperations, 'https://signet.example.net');
    const requests = requestsOf((await openApiToBruno(document)).items);
    expect(requests).toHaveLength(restOperations.length);

    const create = requests.find(({ name }) => name === 'Create user');
    expect(JSON.parse(create?.request.body.json ?? '{}')).toMatchObject({ username: 'ada' });
    const needed = restOperations.flatMap(({ route, queryParameters }) => [
      ...[...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name),
      ...queryParameters.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    ]);
    const sent = requests
      .flatMap(({ request: { params, headers } }) => [...params, ...headers])
      .filter(({ enabled }) => enabled);
    expect(sent.filter(({ value }) => value === '')).toEqual([]);
    expect(new Set(sent.map(({ name }) => name))).toEqual(
      // This one is sent as what it is without: false.
      new Set([...needed, 'totalCount']),
    );
  },
);
