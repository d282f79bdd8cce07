import { expect, test } from 'vitest';
import { startService } from './support/service.ts';

const service = await startService();

test('reports that it lives and is ready', async () => {
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
});

test('shows its metrics in the Prometheus text format', async () => {
  const response = await fetch(`${service.url}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(await response.text()).toContain('# TYPE signet_http_request_duration_seconds histogram');
});

test('pages of any origin may call the API without cookies', async () => {
  for (const path of ['/graphql', '/api/users']) {
    const response = await fetch(`${service.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://admin.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(response.headers.get('access-control-allow-origin')).toMatch(
      /^(\*|https:\/\/admin\.example\.com)$/,
    );
    expect(response.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  }
});

test('sends the headers that keep browsers from guessing', async () => {
  for (const path of [
    '/healthz',
    '/graphql?query={__typename}',
    '/oidc/jwks',
    '/api/openapi.json',
  ]) {
    const { headers, body } = await fetch(`${service.url}${path}`);
    // A connection with half a document in it sees no end of the server.
    await body?.cancel();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('strict-transport-security')).toBeNull();
  }
});

test('serves GraphiQL without scripts from elsewhere', async () => {
  const page = await (
    await fetch(`${service.url}/graphql`, { headers: { accept: 'text/html' } })
  ).text();
  expect(page).toContain('GraphiQL');
  expect(page).not.toMatch(/(src|href)="?(\w+:|\/\/)/);
});
