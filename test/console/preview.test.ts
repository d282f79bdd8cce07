import { describe, expect, test } from 'vitest';
import { openConsole, setUpConsole } from '../support/people/console.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { prisma } = service.testDatabase.database;
const { baseUrl } = service.app.services;
const browser = await setUpConsole(service);

const path = (values: Record<string, string>) => `/console/preview?${new URLSearchParams(values)}`;
const preview = async (values: Record<string, string>, settings: object = {}) => {
  const response = await browser.request(path({ ...values, settings: JSON.stringify(settings) }));
  return { response, body: await response.text() };
};

describe('the preview of the sign-in pages', () => {
  test('is for people in the console alone', async () => {
    expect((await openConsole(service).request('/console/preview')).status).toBe(401);
  });

  test('stands in frames of this service alone, without an origin, and sends nothing', async () => {
    const { response, body } = await preview({ page: 'sign-in' });
    expect(response.status).toBe(200);
    const policy = (response.headers.get('content-security-policy') ?? '').split('; ');
    expect(policy).toContain(`frame-ancestors ${new URL(baseUrl).origin}`);
    expect(policy).toContain('sandbox allow-scripts');
    expect(policy).toContain("form-action 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(body).toContain('name="password"');
    expect(body).not.toContain('autofocus');
    // There is nothing behind its forms.
    const before = await prisma.interaction.count();
    const posted = await browser.request('/sign-in/preview', {
      method: 'POST',
      headers: { origin: new URL(baseUrl).origin },
      body: new URLSearchParams({ identifier: 'root', password: 'x', csrf: '' }),
    });
    expect(posted.status).toBe(404);
    expect(await prisma.interaction.count()).toBe(before);
  });

  test('shows what is typed, and keeps what the service would refuse', async () => {
    const { body } = await preview(
      { language: 'de', theme: 'dark', application: '<b>Shop</b>' },
      {
        branding: { productName: '<i>Harbour</i>', primaryColor: 'blue', termsUrl: 'javascript:1' },
        passwordEnabled: 'yes',
        signUpEnabled: false,
      },
    );
    expect(body).toContain('lang="de"');
    expect(body).toContain('&lt;i&gt;Harbour');
    expect(body).toContain('&lt;b&gt;Shop');
    expect(body).not.toContain('<i>');
    expect(body).not.toContain('javascript:');
    expect(body).toContain('name="password"');
    expect(body).not.toContain('Konto anlegen');
    expect(body).toContain('@media all{:root{');
    expect(await prisma.signInExperience.count()).toBe(0);
  });

  test('leads on where the settings have no such page', async () => {
    const byCode = await preview({ page: 'sign-in' }, { passwordEnabled: false });
    expect(byCode.body).toContain('name="email"');
    const closed = await preview({ page: 'register' }, { signUpEnabled: false });
    expect(closed.body).toContain('name="identifier"');
    const code = await preview({ page: 'code' });
    expect(code.body).toContain('data-wait="30"');
    expect((await preview({ page: 'recovery' })).body).toContain('name="email"');
    expect((await preview({ page: 'register' })).body).toContain('name="username"');
    expect((await browser.request('/console/preview?settings=%7B&page=nothing')).status).toBe(200);
  });
});
