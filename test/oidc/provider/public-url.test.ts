import { expect, test } from 'vitest';
import { authorize, createSignInFixture } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ BASE_URL: 'https://id.example.com/auth' });
const { client } = await createSignInFixture(service);

test('leads to its public URL, whatever host a request names', async () => {
  const { url } = await authorize(service, client);
  expect(url.href).toMatch(/^https:\/\/id\.example\.com\/auth\/oidc\/auth\?/);
  const response = await fetch(`${service.url}/oidc/auth${url.search}`, {
    redirect: 'manual',
    headers: { 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'http' },
  });
  expect(response.status).toBe(303);
  const location = response.headers.get('location') ?? '';
  expect(location).toMatch(/^https:\/\/id\.example\.com\/auth\/sign-in\/[\w-]+$/);
  const cookies = response.headers.getSetCookie();
  expect(cookies.every((cookie) => /; *secure/i.test(cookie))).toBe(true);
  for (const path of [new URL(location).pathname, '/auth/experience'])
    expect(cookies.some((cookie) => cookie.includes(`path=${path};`))).toBe(true);
  expect(cookies.some((cookie) => cookie.includes('path=/auth/oidc/auth/'))).toBe(true);
});

test('names its public URL in its metadata', async () => {
  const response = await fetch(`${service.url}/oidc/.well-known/openid-configuration`);
  expect(await response.json()).toMatchObject({
    issuer: 'https://id.example.com/auth/oidc',
    token_endpoint: 'https://id.example.com/auth/oidc/token',
  });
});
