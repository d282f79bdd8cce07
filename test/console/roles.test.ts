import { describe, expect, test } from 'vitest';
import { consoleApplicationId } from '../../src/applications/built-in.ts';
import { managementScopes } from '../../src/auth/scopes.ts';
import { createFirstAdministrator } from '../../src/console/administrator.ts';
import { openConsole, sendSetup, setupTokenOf } from '../support/people/console.ts';
import { openBrowser, signIn } from '../support/people/sign-in.ts';
import { startSecondNode, startService } from '../support/service.ts';

const service = await startService();
const { prisma } = service.testDatabase.database;

const scopesOf = async (name: string) => {
  const role = await prisma.role.findFirstOrThrow({
    where: { name },
    include: { scopes: { include: { scope: { include: { resource: true } } } } },
  });
  expect(role.type).toBe('USER');
  return role.scopes.map(({ scope }) => `${scope.resource.indicator} ${scope.name}`).sort();
};

describe('the roles', () => {
  test('Administrator and Viewer are made at the first start', async () => {
    expect(await scopesOf('Administrator')).toEqual(['urn:signet:management all']);
    const readable = [...managementScopes.keys()].filter((name) => name.endsWith(':read'));
    expect(await scopesOf('Viewer')).toEqual(
      readable.map((name) => `urn:signet:management ${name}`).sort(),
    );
  });

  test('stay as people leave them: changed, renamed or deleted', async () => {
    const viewer = await prisma.role.findFirstOrThrow({ where: { name: 'Viewer' } });
    await prisma.role.delete({ where: { id: viewer.id } });
    const administrator = await prisma.role.findFirstOrThrow({ where: { name: 'Administrator' } });
    await prisma.role.update({ where: { id: administrator.id }, data: { name: 'Chief' } });
    await startSecondNode(service);
    const names = (await prisma.role.findMany({ where: { type: 'USER' } })).map(({ name }) => name);
    expect(names).toEqual(['Chief']);
  });

  test('get a scope that comes with a new version, unless people have changed them', async () => {
    const old = await startService();
    const { prisma: database } = old.testDatabase.database;
    const viewer = await database.role.findFirstOrThrow({ where: { name: 'Viewer' } });
    const names = async () => {
      const scope = { resource: { indicator: 'urn:signet:management' } };
      const where = { roleId: viewer.id, scope };
      const rows = await database.roleScope.findMany({ where, include: { scope: true } });
      return rows.map(({ scope: { name } }) => name).sort();
    };
    const all = await names();
    expect(all).toContain('permissions:read');
    const forget = () => database.scope.deleteMany({ where: { name: 'permissions:read' } });
    await forget();
    await startSecondNode(old);
    expect(await names()).toEqual(all);
    // A later start gives it to nobody again.
    const taken = { name: { in: ['permissions:read', 'events:read'] } };
    await database.roleScope.deleteMany({ where: { roleId: viewer.id, scope: taken } });
    await startSecondNode(old);
    await forget();
    await startSecondNode(old);
    expect(await names()).toEqual(
      all.filter((name) => name !== 'permissions:read' && name !== 'events:read'),
    );
  });

  test('come back for whoever becomes the first administrator', async () => {
    const other = await startService();
    const { prisma: database } = other.testDatabase.database;
    await database.role.deleteMany({ where: { type: 'USER' } });
    const response = await sendSetup(openConsole(other), {
      token: setupTokenOf(other),
      username: 'root',
      password: 'a long enough phrase',
    });
    expect(response.status).toBe(201);
    const user = await database.user.findFirstOrThrow({
      include: { roles: { include: { role: true } } },
    });
    expect(user.roles.map(({ role }) => role.name)).toEqual(['Administrator']);
  });

  test('of an existing database are made once, and give nothing to roles of the same name', async () => {
    const old = await startService();
    const { prisma: database } = old.testDatabase.database;
    // As an earlier version left it, with a role that somebody made.
    await database.builtIn.deleteMany();
    const own = await database.role.findFirstOrThrow({ where: { name: 'Administrator' } });
    await database.roleScope.deleteMany({ where: { roleId: own.id } });
    await database.role.deleteMany({ where: { name: 'Viewer' } });
    await startSecondNode(old);
    expect(await database.roleScope.count({ where: { roleId: own.id } })).toBe(0);
    const names = await database.role.findMany({
      where: { type: 'USER' },
      orderBy: { name: 'asc' },
    });
    expect(names.map(({ name }) => name)).toEqual([
      'Administrator',
      'Administrator (Signet)',
      'Viewer',
    ]);
  });

  test('two ways to become the first administrator at the same time make one', async () => {
    const other = await startService();
    const { database } = other.testDatabase;
    const services = other.app.services;
    const made = await Promise.all(
      ['anna', 'bert', 'cleo'].map((username) =>
        createFirstAdministrator(
          services,
          { username, password: 'a long enough phrase' },
          async () => true,
        ),
      ),
    );
    expect(made.filter((user) => user !== undefined)).toHaveLength(1);
    expect(await database.prisma.user.count()).toBe(1);
  });
});

describe('the application of the console', () => {
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${service.url}/api/applications/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await service.managementToken()}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as { code?: string } };
  };

  test('is listed, with no secret and no redirect URI of its own', async () => {
    const { body } = await call('GET', consoleApplicationId);
    expect(body).toMatchObject({
      application: {
        name: 'Console',
        type: 'TRADITIONAL',
        allowTokenExchange: false,
        redirectUris: [],
      },
    });
    expect(
      await prisma.applicationSecret.count({ where: { applicationId: consoleApplicationId } }),
    ).toBe(0);
  });

  test.each<[string, string, string, object?]>([
    ['deleted', 'DELETE', ''],
    ['renamed', 'PATCH', '', { name: 'Mine' }],
    ['sent elsewhere', 'PATCH', '', { redirectUris: ['https://evil.example/'] }],
    ['opened to scripts', 'PATCH', '', { corsAllowedOrigins: ['https://evil.example'] }],
    ['let sign in without a browser', 'PATCH', '', { allowHeadlessSignIn: true }],
    ['let exchange', 'PATCH', '', { allowTokenExchange: true }],
    ['given a secret', 'POST', '/secrets', { name: 'mine' }],
  ])('cannot be %s, not even by the admin application', async (_what, method, path, body) => {
    const before = await prisma.application.findUnique({ where: { id: consoleApplicationId } });
    const answer = await call(method, `${consoleApplicationId}${path}`, body);
    expect(answer).toMatchObject({ status: 403, body: { code: 'NOT_ALLOWED' } });
    expect(await prisma.application.findUnique({ where: { id: consoleApplicationId } })).toEqual(
      before,
    );
    expect(
      await prisma.applicationSecret.count({ where: { applicationId: consoleApplicationId } }),
    ).toBe(0);
  });

  test('gets its codes at the callback alone, whatever stands in its row', async () => {
    await prisma.application.update({
      where: { id: consoleApplicationId },
      data: { redirectUris: ['https://evil.example/'] },
    });
    const { issuer, baseUrl } = service.app.services;
    const ask = (redirectUri: string) =>
      openBrowser(baseUrl).request(
        `${issuer}/auth?${new URLSearchParams({
          client_id: consoleApplicationId,
          response_type: 'code',
          scope: 'openid',
          redirect_uri: redirectUri,
          code_challenge: 'x'.repeat(43),
          code_challenge_method: 'S256',
        })}`,
      );
    expect((await ask('https://evil.example/')).status).toBe(400);
    expect((await ask(`${baseUrl}/console/callback`)).status).toBe(303);
  });

  test('gets no token at the token endpoint, with a secret or without', async () => {
    await createFirstAdministrator(
      service.app.services,
      { username: 'root', password: 'a long enough phrase' },
      async () => true,
    );
    const redirectUri = `${service.app.services.baseUrl}/console/callback`;
    const person = { username: 'root', password: 'a long enough phrase' };
    for (const client of [
      { id: consoleApplicationId },
      { id: consoleApplicationId, secret: 'guess' },
    ]) {
      await expect(signIn(service, { client, redirectUri, ...person })).rejects.toMatchObject({
        status: 401,
      });
    }
  });
});
