import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService();

test('the page loads only own assets, under a strict policy', async () => {
  const response = await fetch(`${service.url}/api/docs`);
  expect(response.status).toBe(200);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  const page = await response.text();
  // No inline script or style, which the policy would forbid.
  expect(page).not.toMatch(/<script>|<style|\son\w+=|style=/);
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, path]) => path);
  expect(loaded).toHaveLength(3);
  for (const path of loaded) {
    expect(path).toMatch(/^\/assets\/[\w-]+\.[0-9a-f]{16}\.(js|css)$/);
    const asset = await fetch(`${service.url}${path}`, {
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(asset.status).toBe(200);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(asset.headers.get('content-encoding')).toBe('br');
    expect(await asset.text()).not.toBe('');
  }
});

test('assets come in an encoding that the client accepts', async () => {
  const page = await (await fetch(`${service.url}/api/docs`)).text();
  const path = /src="(\/assets\/swagger-ui[^"]+)"/.exec(page)?.[1];
  const plain = await fetch(`${service.url}${path}`, { headers: { 'accept-encoding': 'br;q=0' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  const text = await plain.text();
  const zipped = await fetch(`${service.url}${path}`, { headers: { 'accept-encoding': 'gzip' } });
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(Number(zipped.headers.get('content-length'))).toBeLessThan(text.length / 3);
  expect(await zipped.text()).toBe(text);
});

test('a page under a proxy’s path loads from there', async () => {
  const proxied = await startService({ BASE_URL: 'https://example.com/identity' });
  const page = await (await fetch(`${proxied.url}/api/docs`)).text();
  expect(page).toContain('data-document="/identity/api/openapi.json"');
  expect(page).toContain('src="/identity/assets/');
});

test('is off when introspection is off', async () => {
  const closed = await startService({ INTROSPECTION: 'false' });
  expect((await fetch(`${closed.url}/api/docs`)).status).toBe(404);
});
