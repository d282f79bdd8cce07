import { describe, expect, onTestFinished, test } from 'vitest';
import {
  administrator,
  type ConsoleBrowser,
  consoleFolder,
  openConsole,
  openSocket,
  setUpConsole,
  signInToConsole,
} from '../support/people/console.ts';
import { startSecondNode, startService } from '../support/service.ts';

const service = await startService({}, { consoleFolder });
const { baseUrl } = service.app.services;
const { origin } = new URL(baseUrl);
const other = await startSecondNode(service);
const nodes = [service.url, other.url];
const { prisma } = service.testDatabase.database;
const minute = 60_000;

await setUpConsole(service);

/** Calls the management API as REST, as the admin application. */
async function api<Body = unknown>(method: string, path: string, body?: object): Promise<Body> {
  const token = await service.managementToken();
  const response = await fetch(`${service.url}/api${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

let people = 0;

/** A user whose one role has these management scopes, in a browser that is signed in to the console. */
async function somebody(scopes: readonly string[] = ['all']) {
  people += 1;
  const username = `person${people}`;
  const { password } = administrator;
  const { user } = await api<{ user: { id: string } }>('POST', '/users', { username, password });
  const role = { name: `role of ${username}`, type: 'USER' };
  const {
    role: { id: roleId },
  } = await api<{ role: { id: string } }>('POST', '/roles', role);
  const known = await prisma.scope.findMany({
    where: { name: { in: [...scopes] }, resource: { indicator: 'urn:signet:management' } },
  });
  const scopeIds = known.map(({ id }) => id);
  if (scopeIds.length > 0) await api('POST', `/roles/${roleId}/scopes`, { scopeIds });
  await api('POST', `/users/${user.id}/roles`, { roleIds: [roleId] });
  const browser = openConsole(service);
  await signInToConsole(browser, { username, password });
  return { id: user.id, username, roleId, scopeIds, browser };
}

const cookieOf = (browser: ConsoleBrowser) => browser.cookiesFor('/console/graphql');

/** Opens a socket on a node that follows events, and resolves once the service has taken both. */
async function follow(browser: ConsoleBrowser, url: string) {
  const socket = openSocket(url, { cookie: cookieOf(browser), origin });
  socket.send({ type: 'connection_init' });
  await socket.received(1);
  socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { events { id } }' } });
  socket.send({ type: 'ping' });
  await socket.received(2);
  return socket;
}

/** Asks who is signed in, on a node. */
const statusAt = async (browser: ConsoleBrowser, url: string): Promise<number> =>
  (await fetch(`${url}/console/session`, { headers: { cookie: cookieOf(browser) } })).status;

describe('a session ends on every node, its sockets with 4403, when', () => {
  type Person = Awaited<ReturnType<typeof somebody>>;
  test.each<[string, (person: Person) => Promise<unknown>]>([
    [
      'the user is suspended',
      ({ id }) => api('PATCH', `/users/${id}/is-suspended`, { isSuspended: true }),
    ],
    ['the user is deleted', ({ id }) => api('DELETE', `/users/${id}`)],
    ['the role is taken away', ({ id, roleId }) => api('DELETE', `/users/${id}/roles/${roleId}`)],
    ['the role is deleted', ({ roleId }) => api('DELETE', `/roles/${roleId}`)],
    [
      'the role loses a scope',
      ({ roleId, scopeIds }) => api('DELETE', `/roles/${roleId}/scopes/${scopeIds[0]}`),
    ],
    [
      'the password is changed',
      ({ id }) => api('PATCH', `/users/${id}/password`, { password: 'another long phrase' }),
    ],
    ['the user is signed out everywhere', ({ id }) => api('POST', `/users/${id}/sign-out`)],
    [
      'the provider’s session is ended',
      async ({ id }) => {
        const session = await prisma.session.findFirstOrThrow({ where: { userId: id } });
        await api('DELETE', `/users/${id}/sessions/${session.id}`);
      },
    ],
    ['the person signs out', ({ browser }) => browser.signOut()],
  ])('%s', async (_what, end) => {
    const person = await somebody(['events:read', 'users:read']);
    const { browser } = person;
    const kept = { cookiesFor: () => cookie } as unknown as ConsoleBrowser;
    const cookie = cookieOf(browser);
    const sockets = await Promise.all(nodes.map((url) => follow(browser, url)));
    await end(person);
    for (const { closed } of sockets) expect((await closed).code).toBe(4403);
    for (const url of nodes) expect(await statusAt(kept, url)).toBe(401);
  });

  test('it does not begin again when a suspension ends or a role is given back', async () => {
    const { id, roleId, browser } = await somebody(['users:read']);
    await api('DELETE', `/users/${id}/roles/${roleId}`);
    expect(await browser.session()).toBeUndefined();
    await api('POST', `/users/${id}/roles`, { roleIds: [roleId] });
    expect(await browser.session()).toBeUndefined();
  });
});

describe('the rights in a session', () => {
  test('are those of the user’s roles', async () => {
    const { browser } = await somebody(['users:read', 'events:read']);
    expect((await browser.session())?.scopes).toEqual(['events:read', 'users:read']);
    expect((await browser.ask('{ users(first: 1) { edges { node { id } } } }')).status).toBe(200);
    const { status, body } = await browser.ask('{ applications(first: 1) { totalCount } }');
    expect(status).toBe(403);
    expect(body.errors?.[0]?.extensions).toEqual({
      code: 'FORBIDDEN',
      requiredScope: 'applications:read',
    });
  });

  test('grow with a role, and the session ends when that is taken away again', async () => {
    const { id, browser } = await somebody(['users:read']);
    const viewer = await prisma.role.findFirstOrThrow({ where: { name: 'Viewer' } });
    await api('POST', `/users/${id}/roles`, { roleIds: [viewer.id] });
    expect((await browser.session())?.scopes).toContain('webhooks:read');
    await api('DELETE', `/users/${id}/roles/${viewer.id}`);
    expect(await browser.session()).toBeUndefined();
  });

  test('are none for a user without a role, who may sign out', async () => {
    const { browser } = await somebody([]);
    expect((await browser.session())?.scopes).toEqual([]);
    expect((await browser.ask('{ users { totalCount } }')).status).toBe(403);
    expect((await browser.signOut()).status).toBe(200);
    expect(await browser.session()).toBeUndefined();
  });

  test('are no more than a token of the user has: nobody gives what they do not hold', async () => {
    const { id, browser } = await somebody(['users:write', 'roles:read']);
    const administrators = await prisma.role.findFirstOrThrow({ where: { name: 'Administrator' } });
    const { body } = await browser.ask(
      `mutation ($input: AssignUserRolesInput!) {
         assignUserRoles(input: $input) { __typename } }`,
      { input: { userId: id, roleIds: [administrators.id] } },
    );
    expect(body.data).toEqual({ assignUserRoles: { __typename: 'NotAllowedError' } });
  });

  test('make the person the actor of what they do, through the console', async () => {
    const { id, browser } = await somebody(['users:write']);
    await browser.ask(
      'mutation { createUser(input: { username: "made_by_hand" }) { __typename } }',
    );
    const { actor } = await prisma.event.findFirstOrThrow({
      where: { type: 'User.Created' },
      orderBy: { position: 'desc' },
    });
    const application = await prisma.application.findFirstOrThrow({ where: { name: 'Console' } });
    expect(actor).toEqual({ type: 'USER', id, clientId: application.id });
  });
});

describe('the time of a session', () => {
  test('is an hour without a request, which each request renews, and twelve hours in all', async () => {
    const { browser } = await somebody(['users:read']);
    const first = await browser.session();
    const begunAt = service.clock.now().getTime();
    expect(Date.parse(first?.expiresAt ?? '') - begunAt).toBeLessThanOrEqual(60 * minute);
    for (let hour = 0; hour < 13; hour += 1) {
      service.clock.advance(55 * minute);
      expect(await browser.session()).toBeDefined();
    }
    // Eleven hours and 55 minutes: whatever is asked, the rest is five minutes.
    const last = await browser.session();
    expect(Date.parse(last?.expiresAt ?? '') - begunAt).toBeLessThanOrEqual(720 * minute);
    service.clock.advance(6 * minute);
    expect(await browser.session()).toBeUndefined();
  });

  test('ends with an idle hour, on a socket that only listens too', async () => {
    const { browser } = await somebody(['events:read']);
    const socket = await follow(browser, other.url);
    service.clock.advance(61 * minute);
    expect((await socket.closed).code).toBe(4403);
    expect(await browser.session()).toBeUndefined();
  });

  test('a page that asks by itself does not keep it', async () => {
    const { browser } = await somebody(['users:read']);
    const ask = () => browser.request('/console/session', { headers: { 'x-signet-idle': '1' } });
    service.clock.advance(31 * minute);
    expect((await ask()).status).toBe(200);
    (await follow(browser, other.url)).send({ type: 'ping' });
    service.clock.advance(30 * minute);
    expect((await ask()).status).toBe(401);
  });

  test('is noted once a minute at most', async () => {
    onTestFinished(service.clock.freeze());
    const { id, browser } = await somebody(['users:read']);
    const lastActiveAt = async () =>
      (await prisma.firstPartySession.findFirstOrThrow({ where: { userId: id } })).lastActiveAt;
    const before = await lastActiveAt();
    service.clock.advance(30_000);
    await browser.session();
    expect(await lastActiveAt()).toEqual(before);
    service.clock.advance(31_000);
    await browser.session();
    expect((await lastActiveAt()).getTime()).toBe(before.getTime() + 61_000);
  });
});

describe('signing out', () => {
  test('ends the provider’s session and all its tokens, and says so', async () => {
    const { id, browser } = await somebody();
    const { id: sessionId } = await prisma.session.findFirstOrThrow({ where: { userId: id } });
    const visit = await browser.signOut();
    expect(visit.url.pathname).toBe('/console/signed-out');
    expect(visit.body).toContain('You are signed out');
    expect(visit.body).toContain('/console/sign-in');
    expect(visit.body).not.toContain('<script');
    expect(await prisma.session.count({ where: { userId: id } })).toBe(0);
    expect(
      await prisma.event.findMany({ where: { type: 'User.Session.Ended', subjectId: id } }),
    ).toMatchObject([
      { data: { userId: id, sessionId, reason: 'SIGN_OUT' }, actor: { type: 'USER', id } },
    ]);
    const again = await browser.open('/console/sign-in');
    expect(again.url.pathname).toMatch(/^\/sign-in\//);
  });

  test('is nothing that a page of another origin can do', async () => {
    const { browser } = await somebody();
    const { request } = browser;
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: `${origin}.evil.example` },
      { origin, 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      const response = await request('/console/sign-out', { method: 'POST', headers });
      expect(response.status).toBe(403);
    }
    expect((await request('/console/sign-out')).status).toBe(200);
    expect(await browser.session()).toBeDefined();
  });

  test('without a session leads to the same page', async () => {
    const visit = await openConsole(service).signOut();
    expect(visit.body).toContain('You are signed out');
  });
});

test('a session’s cookie is stored as a digest alone, and no token is', async () => {
  const { browser } = await somebody();
  const [, secret = ''] = /signet_console=([\w-]+)/.exec(cookieOf(browser)) ?? [];
  expect(secret).toMatch(/^[\w-]{43}$/);
  const rows = await prisma.$queryRaw<{ text: string }[]>`
    SELECT s::text AS "text" FROM "FirstPartySession" s`;
  const stored = rows.map(({ text }) => text).join('\n');
  expect(stored).not.toContain(secret);
  expect(stored).not.toContain('eyJ');
});

describe('the cookie of a session', () => {
  const attributesOf = async (secure: boolean) => {
    const environment: Record<string, string> = secure
      ? { BASE_URL: 'https://id.example.com' }
      : {};
    const here = await startService(environment, { consoleFolder });
    const response = await fetch(`${here.url}/console/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        token: new URL(here.setupLink as string).searchParams.get('token'),
        ...administrator,
      }),
    });
    expect(response.status).toBe(201);
    return response.headers.getSetCookie();
  };

  test('is for this host, over TLS, without scripts and without other sites', async () => {
    expect(await attributesOf(true)).toEqual([
      expect.stringMatching(
        /^__Host-signet_console=[\w-]{43}; Max-Age=43200; SameSite=Strict; Path=\/; Secure; HttpOnly$/,
      ),
    ]);
  });

  test('is for the console alone where there is no TLS', async () => {
    expect(await attributesOf(false)).toEqual([
      expect.stringMatching(
        /^signet_console=[\w-]{43}; Max-Age=43200; SameSite=Strict; Path=\/console; HttpOnly$/,
      ),
    ]);
  });
});
