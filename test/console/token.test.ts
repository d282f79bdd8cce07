import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { managementIndicator } from '../../src/auth/scopes.ts';
import { send } from '../support/operations/graphql.ts';
import {
  type ConsoleBrowser,
  openConsole,
  setUpConsole,
  signInToConsole,
} from '../support/people/console.ts';
import { startService } from '../support/service.ts';

const service = await startService();
service.clock.freeze();
const { prisma } = service.testDatabase.database;
const { origin } = new URL(service.app.services.baseUrl);
const browser = await setUpConsole(service);
const fromPage = { origin, 'x-signet-console': '1', 'content-type': 'application/json' };

const ask = (from: ConsoleBrowser, headers: Record<string, string> = fromPage) =>
  from.request('/console/token', { method: 'POST', headers, body: '{}' });

interface Issued {
  readonly accessToken: string;
  readonly scopes: string[];
  readonly expiresAt: string;
}

const issue = async (from = browser) => (await (await ask(from)).json()) as Issued;

/** The status of a query with a token. */
const statusWith = async (token: string, query = '{ users { totalCount } }') =>
  (await send({ url: service.url, token }, query)).status;

describe('a token of the console', () => {
  test('has the rights of the session, for an hour, at the management API alone', async () => {
    const response = await ask(browser);
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { accessToken, scopes, expiresAt } = (await response.json()) as Issued;
    const claims = decodeJwt(accessToken);
    expect(scopes).toEqual((await browser.session())?.scopes);
    expect(claims).toMatchObject({ aud: managementIndicator, scope: scopes.join(' ') });
    const now = Math.floor(service.clock.now().getTime() / 1000);
    expect((claims.exp ?? 0) - now).toBeLessThanOrEqual(3600);
    expect(Date.parse(expiresAt)).toBe((claims.exp ?? 0) * 1000);
    expect(await statusWith(accessToken)).toBe(200);
  });

  test('is for pages of this service alone', async () => {
    const { origin: _, ...noOrigin } = fromPage;
    const { 'x-signet-console': __, ...noHeader } = fromPage;
    for (const headers of [
      noOrigin,
      noHeader,
      { ...fromPage, origin: 'https://elsewhere.example.com' },
      { ...fromPage, 'sec-fetch-site': 'same-site' },
    ]) {
      const response = await ask(browser, headers);
      expect(response.status).toBe(403);
      expect(await response.text()).not.toContain('accessToken');
    }
    expect((await ask(openConsole(service))).status).toBe(401);
  });

  test('gives a person no more than their roles', async () => {
    const password = 'a long enough phrase';
    const viewer = await prisma.role.findFirstOrThrow({ where: { name: 'Viewer' } });
    await send(
      { url: service.url, token: await service.managementToken() },
      `mutation { createUser(input: { username: "viewer", password: "${password}" }) { __typename } }`,
    );
    const { id: userId } = await prisma.user.findFirstOrThrow({ where: { username: 'viewer' } });
    await prisma.userRole.create({
      data: { userId, roleId: viewer.id, setterScopes: ['all'] },
    });
    const own = openConsole(service);
    await signInToConsole(own, { username: 'viewer', password });
    const { accessToken, scopes } = await issue(own);
    expect(scopes.every((scope) => scope.endsWith(':read'))).toBe(true);
    expect(await statusWith(accessToken)).toBe(200);
    const create = 'mutation { createRole(input: { name: "Mine" }) { __typename } }';
    expect(await statusWith(accessToken, create)).toBe(403);
  });

  test('lasts no longer than the session', async () => {
    const late = await prisma.firstPartySession.findFirstOrThrow({
      where: { user: { username: 'root' } },
    });
    const soon = new Date(service.clock.now().getTime() + 600_000);
    await prisma.firstPartySession.update({ where: { id: late.id }, data: { expiresAt: soon } });
    const { expiresAt } = await issue();
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(soon.getTime());
  });

  test('ends when the person signs out', async () => {
    const { accessToken } = await issue();
    expect(await statusWith(accessToken)).toBe(200);
    await browser.signOut();
    expect(await statusWith(accessToken)).toBe(401);
  });
});
