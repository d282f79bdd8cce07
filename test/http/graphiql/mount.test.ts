import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { askRaw } from '../../support/peers/raw-http.ts';
import { startService } from '../../support/service.ts';

const service = await startService();

const page = await fetch(`${service.url}/graphql`, { headers: { accept: 'text/html' } });
const markup = await page.text();
const names = [...markup.matchAll(/graphql\/assets\/([\w.-]+)/g)].map(([, name]) => name as string);

describe('GraphiQL', () => {
  test('is a small page that runs only its own scripts', () => {
    expect(Buffer.byteLength(markup)).toBeLessThan(4096);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/unsafe-eval|\*|https?:/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(markup.match(/<script(?![^>]*(src=|type="application\/json"))/)).toBeNull();
  });

  test('has compressed parts that browsers cache for ever', async () => {
    expect(names).toHaveLength(8);
    for (const name of names) {
      const ask = (coding: string) =>
        askRaw(`${service.url}/graphql/assets/${name}`, { 'accept-encoding': coding });
      const [plain, gzip, brotli] = await Promise.all([
        ask('identity'),
        ask('gzip'),
        ask('gzip, br'),
      ]);
      expect(name).toMatch(/\.[0-9a-f]{16}\.(js|css|ico)$/);
      expect(gzip.headers['content-encoding']).toBe('gzip');
      expect(brotli.headers['content-encoding']).toBe('br');
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
      expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
      for (const { headers } of [plain, gzip, brotli]) {
        expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
        expect(headers.vary).toBe('accept-encoding');
      }
    }
  });

  test('has no part of another name', async () => {
    const [name = ''] = names;
    for (const other of ['x', name.replace(/[0-9a-f]{16}/, '0123456789abcdef'), '..%2fmount.ts']) {
      expect((await fetch(`${service.url}/graphql/assets/${other}`)).status).toBe(404);
    }
  });

  test('has no parts when it is off', async () => {
    const without = await startService({ GRAPHIQL: 'false' });
    expect((await fetch(`${without.url}/graphql/assets/${names[0]}`)).status).toBe(404);
  });
});
