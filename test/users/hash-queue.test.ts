import { expect, onTestFinished, test } from 'vitest';
import { hashQueue } from '../../src/users/hash-queue.ts';
import { withoutRefusals } from '../support/events.ts';
import { send } from '../support/operations/graphql.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;

interface Line {
  readonly isLater: boolean;
}
const people: Line = { isLater: false };
const managementApi: Line = { isLater: true };

/** Fills lines of the queue of this process to the last place, until the function returned is called. */
function fill(...lines: readonly Line[]): () => Promise<void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waiting: Promise<void>[] = [];
  for (const line of lines.length > 0 ? lines : [people, managementApi])
    while (hasRoom(line)) waiting.push(hashQueue.run(() => released, line));
  const end = async () => {
    release();
    await Promise.all(waiting);
  };
  // The queue is the process's: other files of this worker use it.
  onTestFinished(end);
  return end;
}
function hasRoom(line: Line): boolean {
  try {
    hashQueue.assertRoom(line);
    return true;
  } catch {
    return false;
  }
}

// The page shows again what was typed.
const withoutIdentifier = (body = '') => body.replace(/ value="(?:Ada|nobody)"/, '');

test('sign-ins beyond the queue get a 429 page', async () => {
  const { browser, visit } = await openSignInPage(service, fixture.client);
  const release = fill();
  const answers = await Promise.all(
    [
      ['Ada', password],
      ['Ada', 'wrong'],
      ['nobody', 'wrong'],
    ].map(([identifier = '', secret = '']) =>
      browser.submit(visit, { identifier, password: secret }),
    ),
  );
  for (const { status, headers, body } of answers) {
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(withoutIdentifier(body)).toBe(withoutIdentifier(answers[0]?.body));
  }
  // Who was refused for that took no attempt.
  expect(await prisma.attemptCount.count()).toBe(0);
  await release();
  const done = await browser.submit(visit, { identifier: 'Ada', password });
  expect(done.url.searchParams.has('code')).toBe(true);
});

test('beyond the queue, the management API answers RATE_LIMITED', async () => {
  const token = await service.managementToken('users:write');
  const graphql = (document: string) => send({ url: service.url, token }, document);
  const before = {
    users: await prisma.user.count(),
    events: await prisma.event.count({ where: withoutRefusals }),
  };
  const release = fill();
  for (const document of [
    'mutation { createUser(input: { username: "late", password: "correct horse" }) { __typename } }',
    `mutation { updateUserPassword(input: { id: "${fixture.user.id}", password: "correct horse" }) {
       __typename } }`,
    `mutation { importUsers(input: { users: [{ username: "early" },
       { username: "late", password: "correct horse" }] }) { __typename } }`,
  ]) {
    const { status, errors } = await graphql(document);
    expect(status).toBe(429);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
  }
  const response = await fetch(`${service.url}/api/users/${fixture.user.id}/password`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ password: 'correct horse' }),
  });
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await response.json()).toMatchObject({ code: 'RATE_LIMITED' });
  // What hashes nothing goes on.
  for (const document of [
    'mutation { createUser(input: { username: "bare" }) { __typename } }',
    'mutation @dryRun { createUser(input: { username: "dry", password: "correct horse" }) { __typename } }',
  ]) {
    expect((await graphql(document)).status).toBe(200);
  }
  await release();
  expect(await prisma.user.count()).toBe(before.users + 1);
  expect(await prisma.event.count({ where: withoutRefusals })).toBe(before.events + 1);
});

test('the management API has a line of its own, behind that of people', async () => {
  const token = await service.managementToken('users:write');
  const { browser, visit } = await openSignInPage(service, fixture.client);
  const release = fill(managementApi);
  const document = (username: string) =>
    `mutation { createUser(input: { username: "${username}", password: "correct horse" }) { __typename } }`;
  expect((await send({ url: service.url, token }, document('refused'))).status).toBe(429);
  const waiting = hashQueue.waiting;
  const signedIn = browser.submit(visit, { identifier: 'Ada', password });
  await expect.poll(() => hashQueue.waiting).toBe(waiting + 1);
  await release();
  expect((await signedIn).url.searchParams.has('code')).toBe(true);
  expect((await send({ url: service.url, token }, document('taken'))).status).toBe(200);
});

test('an import with more passwords than the queue succeeds', async () => {
  const token = await service.managementToken('users:write');
  const users = Array.from({ length: 105 }, (_, i) => ({
    username: `imported_${i}`,
    password: 'correct horse',
  }));
  const { data } = await send<{ importUsers: { users: object[]; failures: object[] } }, object>(
    { url: service.url, token },
    `mutation ($users: [ImportedUserInput!]!) { importUsers(input: { users: $users }) {
       ... on ImportUsersPayload { users { id } failures { index } } } }`,
    { users },
  );
  expect(data?.importUsers.users).toHaveLength(105);
});
