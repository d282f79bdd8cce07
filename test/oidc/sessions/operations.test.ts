import { expect, test } from 'vitest';
import { ask, graphql } from '../../support/operations/graphql.ts';
import { type Browser, openBrowser } from '../../support/people/sign-in.ts';
import { authorize, createSignInFixture, refresh } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { client, database } = fixture;
const { prisma } = database;
const endpoint = { url: service.url, token: await service.managementToken() };

const Sessions = graphql(`
  query SessionsOfUser($id: ID!) {
    user(id: $id) {
      sessions {
        totalCount
        edges {
          node { id applicationIds ip userAgent createdAt lastActiveAt authenticationMethods }
        }
      }
    }
  }
`);
const End = graphql(`
  mutation EndUserSession($userId: ID!, $sessionId: ID!) {
    endUserSession(input: { userId: $userId, sessionId: $sessionId }) {
      __typename
      ... on EndUserSessionPayload { session { id } }
      ... on NotFoundError { missing: id }
    }
  }
`);
const Settings = graphql(`
  mutation SessionPolicy($policy: SessionPolicyInput) {
    updateSignInExperience(input: { sessionPolicy: $policy }) { __typename }
  }
`);

const sessionsOf = async (id: string) => {
  // The token of the start lives for an hour, and tests move the clock.
  const fresh = { ...endpoint, token: await service.managementToken() };
  const { user } = await ask(fresh, Sessions, { id });
  expect(user?.sessions.totalCount).toBe(user?.sessions.edges.length);
  return user?.sessions.edges.map(({ node }) => node) ?? [];
};
const isSignedIn = async (browser: Browser) =>
  (await browser.open((await authorize(service, client)).url)).url.searchParams.has('code');

async function signIn(username: string) {
  const browser = openBrowser(service.app.services.baseUrl);
  const tokens = await fixture.signIn({
    username,
    browser,
    resource: fixture.resource.indicator,
    scope: 'openid offline_access read',
  });
  return { browser, tokens };
}

test('a sign-in records its origin, methods and applications', async () => {
  const person = await fixture.createUser();
  const username = person.username ?? '';
  const { browser } = await signIn(username);
  const [session, ...more] = await sessionsOf(person.id);
  expect(more).toEqual([]);
  expect(session).toMatchObject({
    id: expect.stringMatching(/^session_/),
    applicationIds: [client.id],
    ip: expect.stringMatching(/127\.0\.0\.1$/),
    authenticationMethods: ['pwd'],
  });
  const event = await prisma.event.findFirstOrThrow({
    where: { type: 'PostSignIn', subjectId: person.id },
  });
  expect(event.data).toMatchObject({ sessionId: session?.id });

  service.clock.advance(60_000);
  const second = await fixture.createApplication();
  const { url } = await authorize(service, second);
  expect((await browser.open(url)).url.searchParams.has('code')).toBe(true);
  const [later] = await sessionsOf(person.id);
  expect(later?.id).toBe(session?.id);
  expect(new Set(later?.applicationIds)).toEqual(new Set([client.id, second.id]));
  expect(new Date(later?.lastActiveAt ?? 0) > new Date(session?.lastActiveAt ?? 0)).toBe(true);
});

test('ending one ends its tokens and no other session', async () => {
  const person = await fixture.createUser();
  const username = person.username ?? '';
  const [ended, kept] = [await signIn(username), await signIn(username)];
  const [first, second] = await sessionsOf(person.id);
  const sessionId = first?.id ?? '';
  const outcome = await ask(endpoint, End, { userId: person.id, sessionId });
  expect(outcome.endUserSession).toMatchObject({ session: { id: sessionId } });

  expect((await sessionsOf(person.id)).map(({ id }) => id)).toEqual([second?.id]);
  expect(await isSignedIn(ended.browser)).toBe(false);
  expect(await isSignedIn(kept.browser)).toBe(true);
  await expect(refresh(service, client, ended.tokens.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  });
  expect(await refresh(service, client, kept.tokens.refresh_token ?? '')).toHaveProperty(
    'access_token',
  );

  const again = await ask(endpoint, End, { userId: person.id, sessionId });
  expect(again.endUserSession).toMatchObject({ missing: sessionId });
});

test("nobody else's session is ended", async () => {
  const [person, other] = [await fixture.createUser(), await fixture.createUser()];
  const { browser } = await signIn(person.username ?? '');
  const [session] = await sessionsOf(person.id);
  const outcome = await ask(endpoint, End, { userId: other.id, sessionId: session?.id ?? '' });
  expect(outcome.endUserSession).toMatchObject({ missing: session?.id });
  expect(await isSignedIn(browser)).toBe(true);
});

test('an ended session stays ended when stored again', async () => {
  const person = await fixture.createUser();
  const { browser } = await signIn(person.username ?? '');
  const [session] = await sessionsOf(person.id);
  const stored = await prisma.oidcRecord.findFirstOrThrow({
    where: { model: 'Session', accountId: person.id },
  });
  await ask(endpoint, End, { userId: person.id, sessionId: session?.id ?? '' });
  await prisma.oidcRecord.create({ data: { ...stored, payload: stored.payload as object } });
  expect(await isSignedIn(browser)).toBe(false);
});

test('sessions end by idle time and by maximum time', async () => {
  await ask(endpoint, Settings, { policy: { idleSeconds: 600, maxSeconds: 1500 } });
  const person = await fixture.createUser();
  const idle = await signIn(person.username ?? '');
  service.clock.advance(601_000);
  expect(await sessionsOf(person.id)).toEqual([]);
  expect(await isSignedIn(idle.browser)).toBe(false);

  const busy = await signIn(person.username ?? '');
  for (let i = 0; i < 2; i += 1) {
    service.clock.advance(590_000);
    expect(await isSignedIn(busy.browser)).toBe(true);
  }
  service.clock.advance(330_000);
  expect(await isSignedIn(busy.browser)).toBe(false);
  expect(await sessionsOf(person.id)).toEqual([]);
});

test('a shorter limit holds for existing sessions', async () => {
  const token = await service.managementToken();
  for (const limit of ['maxSeconds', 'idleSeconds']) {
    await ask({ ...endpoint, token }, Settings, { policy: null });
    const person = await fixture.createUser();
    const { browser } = await signIn(person.username ?? '');
    await ask({ ...endpoint, token }, Settings, { policy: { [limit]: 60 } });
    service.clock.advance(61_000);
    // An attempt to use it is no use.
    for (let tries = 0; tries < 2; tries += 1) expect(await isSignedIn(browser)).toBe(false);
    expect(await sessionsOf(person.id)).toEqual([]);
  }
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('begins whole or not at all', async () => {
  const person = await fixture.createUser({ username: 'Half' });
  // As a node does that dies before the browser's session is stored.
  await prisma.$executeRawUnsafe(`
    CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'died'; END $$`);
  await prisma.$executeRawUnsafe(`
    CREATE TRIGGER die BEFORE INSERT OR UPDATE ON "OidcRecord" FOR EACH ROW
      WHEN (NEW."model" = 'Session' AND NEW."accountId" = '${person.id}') EXECUTE FUNCTION die()`);
  await expect(signIn('Half')).rejects.toThrow();
  await prisma.$executeRawUnsafe('DROP FUNCTION die CASCADE');
  expect(await sessionsOf(person.id)).toEqual([]);
  expect(await prisma.event.count({ where: { type: 'PostSignIn', subjectId: person.id } })).toBe(0);
  await signIn('Half');
  expect(await sessionsOf(person.id)).toHaveLength(1);
});
