import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createDocumentCache, weightOf } from '../../src/http/document-cache.ts';
import { send } from '../support/operations/graphql.ts';
import { connect } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';

const long = `{ __typename } #${'x'.repeat(64 * 1024)}`;

describe('a document', async () => {
  const service = await startService();

  test('has at most 64 KiB over HTTP', async () => {
    const token = await service.managementToken();
    for (const query of [long, long.replaceAll('x', 'é')]) {
      const { status, errors } = await send({ url: service.url, token }, query);
      expect(status).toBe(400);
      expect(errors?.[0]?.extensions['code']).toBe('GRAPHQL_PARSE_FAILED');
    }
    const shorter = long.slice(0, 64 * 1024);
    expect(await send({ url: service.url }, shorter)).toMatchObject({ status: 200 });
  });

  test('over WebSocket has at most 64 KiB, without affecting others', async () => {
    const { client } = connect({ url: service.url, token: await service.managementToken() });
    const ask = async (query: string) => {
      for await (const result of client.iterate({ query })) return result;
      return undefined;
    };
    await expect(ask(long)).rejects.toMatchObject([
      { extensions: { code: 'GRAPHQL_PARSE_FAILED' } },
    ]);
    expect(await ask('{ __typename }')).toEqual({ data: { __typename: 'Query' } });
  });
});

describe('the cached documents', () => {
  const document = (n: number) => `{ a${n} }`;

  test('are the last used, up to a limit in bytes', () => {
    const cache = createDocumentCache(10 * weightOf(document(10), parse(document(10))));
    for (let n = 10; n < 20; n += 1) cache.set(document(n), parse(document(n)));
    const first = cache.get(document(10));
    expect(first).toBeDefined();
    cache.set(document(20), parse(document(20)));
    expect(cache.get(document(10))).toBe(first);
    expect(cache.get(document(11))).toBeUndefined();
    expect(cache.get(document(20))).toBeDefined();
  });

  test('include no document beyond the whole limit', () => {
    const cache = createDocumentCache(1);
    cache.set(document(1), parse(document(1)));
    expect(cache.get(document(1))).toBeUndefined();
  });
});
