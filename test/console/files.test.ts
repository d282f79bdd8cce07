import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { askRaw } from '../support/peers/raw-http.ts';
import { consoleFolder } from '../support/people/console.ts';
import { startService } from '../support/service.ts';

const folder = await mkdtemp(join(tmpdir(), 'signet-console-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
await cp(consoleFolder, folder, { recursive: true });
await writeFile(join(folder, 'assets/style.9f.css'), 'body { margin: 0 }');
for (const name of ['app.0123abcd.js', 'style.9f.css']) {
  const path = join(folder, 'assets', name);
  const content = await readFile(path);
  await writeFile(`${path}.br`, brotliCompressSync(content));
  await writeFile(`${path}.gz`, gzipSync(content));
}
await writeFile(join(folder, 'secret'), 'not to be served');
const service = await startService({}, { consoleFolder: folder });

const html = { accept: 'text/html,*/*;q=0.8' };
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, { headers, redirect: 'manual' });

describe('a page of the console', () => {
  test.each(['/console', '/console/', '/console/users', '/console/users/user_x?tab=roles'])(
    '%s is the app, for whoever asks',
    async (path) => {
      const response = await get(path, html);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await response.text()).toContain('/console/assets/app.0123abcd.js');
    },
  );

  test('has the session asked for while its scripts load, but not where nobody is signed in yet', async () => {
    const preload = '</console/session>; rel=preload; as=fetch; crossorigin';
    for (const path of ['/console', '/console/', '/console/users']) {
      expect((await get(path, html)).headers.get('link')).toBe(preload);
    }
    const setup = await fetch(service.setupLink ?? '');
    expect(setup.status).toBe(200);
    expect(setup.headers.get('link')).toBeNull();
  });

  test('allows its own scripts and styles alone, and stands in no frame', async () => {
    const { headers } = await get('/console', html);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ]) {
      expect(policy.split('; ')).toContain(rule);
    }
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    // With no-referrer, the form that signs out would have no Origin.
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });
});

describe('an asset of the console', () => {
  test.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['identity', null, (content: Buffer) => content],
  ] as const)('is kept for ever, and compressed for %s', async (accepted, encoding, unpack) => {
    for (const [name, type, text] of [
      ['app.0123abcd.js', 'text/javascript; charset=utf-8', 'Signed in as'],
      ['style.9f.css', 'text/css; charset=utf-8', 'margin'],
    ] as const) {
      const { headers, body } = await askRaw(`${service.url}/console/assets/${name}`, {
        'accept-encoding': accepted,
      });
      expect(headers['content-type']).toBe(type);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers['vary']).toContain('Accept-Encoding');
      expect(headers['content-encoding'] ?? null).toBe(encoding);
      expect(unpack(body).toString()).toContain(text);
    }
  });

  test.each(['missing.js', '..%2fsecret', '%2e%2e%2findex.html', '..%5csecret', '.sources', ''])(
    'is none under the name %j',
    async (name) => {
      const response = await get(`/console/assets/${name}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('cache-control')).not.toContain('immutable');
      expect(await response.text()).not.toContain('not to be served');
    },
  );
});

describe('GET /', () => {
  test('leads a browser to the console', async () => {
    const response = await get('/', html);
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe(`${service.app.services.baseUrl}/console`);
    expect(response.headers.get('vary')).toContain('Accept');
  });

  test('tells a program where everything is', async () => {
    const about = await (await get('/')).json();
    expect(about).toMatchObject({ console: `${service.app.services.baseUrl}/console` });
  });
});

describe('where the console is not built', async () => {
  const bare = await startService();

  test('its pages say how to build it, and the rest works', async () => {
    const response = await fetch(`${bare.url}/console/users`, { headers: html });
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('npm run build:console');
    expect((await fetch(`${bare.url}/console/assets/app.js`)).status).toBe(404);
    expect((await fetch(`${bare.url}/console/session`)).status).toBe(401);
    expect((await fetch(bare.url, { headers: html })).status).toBe(200);
  });
});
