import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService({ MCP: 'true' });

test('shows a program all URLs', async () => {
  const response = await fetch(`${service.url}/`);
  expect(response.status).toBe(200);
  expect(response.headers.get('vary')).toContain('Accept');
  const about = (await response.json()) as Record<string, string>;
  expect(about).toMatchObject({ name: 'Signet', issuer: service.app.services.issuer });
  expect(new URL(about['mcp'] as string).pathname).toBe('/mcp');
  for (const name of ['graphql', 'restDocs', 'openapi', 'discovery', 'jwks', 'health']) {
    const at = (about[name] as string).replace(service.app.services.baseUrl, service.url);
    const { status } = await fetch(at, { headers: { accept: 'text/html, application/json' } });
    expect({ name, status }).toEqual({ name, status: 200 });
  }
});

test('shows a browser a page without scripts', async () => {
  const response = await fetch(`${service.url}/`, { headers: { accept: 'text/html,*/*;q=0.8' } });
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const page = await response.text();
  expect(page).toContain('<h1>Signet</h1>');
  expect(page).toContain('/api/docs');
  expect(page).not.toContain('<script');
});

test('names no disabled page', async () => {
  const closed = await startService({ INTROSPECTION: 'false', GRAPHIQL: 'false' });
  const page = await (await fetch(closed.url, { headers: { accept: 'text/html' } })).text();
  expect(page).not.toMatch(/GraphiQL|api\/docs/);
  const about = (await (await fetch(closed.url)).json()) as object;
  expect(about).not.toHaveProperty('openapi');
  expect(about).not.toHaveProperty('mcp');
});
