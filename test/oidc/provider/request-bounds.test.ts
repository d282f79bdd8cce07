import { expect, test } from 'vitest';
import { unfinishedShare } from '../../../src/oidc/provider/request-bounds.ts';
import { asProgram, step } from '../../support/people/experience.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ TRUST_PROXY: '1' });
const fixture = await createSignInFixture(service);
const { client, database } = fixture;
const { prisma } = database;
const { issuer, baseUrl } = service.app.services;

const from = (ip: string) => ({ redirect: 'manual', headers: { 'x-forwarded-for': ip } }) as const;
const unfinished = (address: string) => prisma.oidcRecord.count({ where: { address } });
const rows = () => prisma.oidcRecord.count();

test.each([
  ['a parameter', { state: 'x'.repeat(2049) }],
  ['a parameter that nobody knows', { anything: 'x'.repeat(2049) }],
  ['all of them together', Object.fromEntries('abcde'.split('').map((n) => [n, 'x'.repeat(2000)]))],
])(
  'refuses an authorization request where %s is too long, and keeps nothing',
  async (_what, parameters) => {
    const { url } = await authorize(service, client, parameters);
    const before = await rows();
    const response = await fetch(url, { redirect: 'manual' });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(await response.text()).toMatch(/has more than (2048|8192) characters/);
    expect(await rows()).toBe(before);
  },
);

test('accepts parameters of 2048 characters, and returns the whole state', async () => {
  const state = 'x'.repeat(2048);
  const { browser, visit } = await openSignInPage(service, client, { state });
  const done = await browser.submit(visit, { identifier: 'Ada', password });
  expect(done.url.searchParams.get('state')).toBe(state);
});

test('an address displaces only its own oldest unfinished sign-ins', async () => {
  const victim = '198.51.100.7';
  const { url } = await authorize(service, client, { state: 'y'.repeat(2048) });
  const browser = openBrowser(baseUrl);
  const page = await browser.open(url, { headers: { 'x-forwarded-for': victim } });
  expect(page.status).toBe(200);
  // What the flood began before is in the table already, so that the test sends its last requests alone.
  const address = '203.0.113.9';
  const expiresAt = new Date(service.clock.now().getTime() + 60_000);
  await prisma.oidcRecord.createMany({
    data: Array.from({ length: unfinishedShare }, (_, i) => {
      return { model: 'Interaction', id: `older_${i}`, payload: {}, address, expiresAt };
    }),
  });
  for (let sent = 0; sent < 20; sent += 1) await fetch(url, from(address));
  expect(await unfinished(address)).toBe(unfinishedShare);
  const older = { address, id: { startsWith: 'older_' } };
  expect(await prisma.oidcRecord.count({ where: older })).toBe(unfinishedShare - 20);
  expect(await unfinished(victim)).toBe(1);
  const done = await browser.submit(page, { identifier: 'Ada', password });
  expect(done.url.searchParams.has('code')).toBe(true);
  // Who has signed in counts no more.
  expect(await unfinished(victim)).toBe(0);
});

test('an address displaces only its own oldest sign-ins without a browser', async () => {
  const { id: clientId } = await fixture.createApplication({ allowHeadlessSignIn: true });
  const startAt = async (ip: string) => {
    const response = await fetch(`${service.url}/experience/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': ip },
      body: JSON.stringify({
        query: `mutation ($input: StartInteractionInput!) { startInteraction(input: $input) {
          ... on StartInteractionPayload { interactionToken } } }`,
        variables: { input: { clientId, redirectUri, codeChallenge: 'x'.repeat(43) } },
      }),
    });
    const { data } = (await response.json()) as {
      data: { startInteraction: { interactionToken: string } };
    };
    return data.startInteraction.interactionToken;
  };
  const victim = await startAt('198.51.100.8');
  const address = '203.0.113.10';
  const createdAt = new Date(service.clock.now().getTime() - 60_000);
  await prisma.interaction.createMany({
    data: Array.from({ length: unfinishedShare }, (_, i) => ({
      id: `older_${i}`,
      digest: Buffer.from(`older_${i}`),
      applicationId: clientId,
      address,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + 3_600_000),
    })),
  });
  for (let sent = 0; sent < 5; sent += 1) await startAt(address);
  expect(await prisma.interaction.count({ where: { address } })).toBe(unfinishedShare);
  const older = { address, id: { startsWith: 'older_' } };
  expect(await prisma.interaction.count({ where: older })).toBe(unfinishedShare - 5);
  const send = asProgram(service, victim);
  expect(await step(send, 'signInWithPassword', { identifier: 'Ada', password })).toMatchObject({
    interaction: { nextSteps: ['SUBMIT'] },
  });
  // Who has signed in counts no more.
  expect(await prisma.interaction.count({ where: { address: '198.51.100.8' } })).toBe(0);
});

test('an anonymous sign-out counts too, and expires after an hour', async () => {
  const ask = () => fetch(`${issuer}/session/end`, from('192.0.2.44'));
  await Promise.all([ask(), ask()]);
  expect(await unfinished('192.0.2.44')).toBe(2);
  const kept = await prisma.oidcRecord.findMany({ where: { address: '192.0.2.44' } });
  for (const { expiresAt } of kept) {
    expect(Number(expiresAt) - service.clock.now().getTime()).toBeLessThanOrEqual(3_600_000);
  }
});

test('events name the address that the last trusted proxy saw', async () => {
  // The first is what the client claims.
  const headers = { 'x-forwarded-for': '10.1.1.1, 203.0.113.77' };
  const { browser, visit } = await openSignInPage(service, client);
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(visit.body) ?? [];
  const body = new URLSearchParams({ csrf, identifier: 'Ada', password });
  const sent = await browser.request(visit.url, { method: 'POST', body, headers });
  await browser.request(sent.headers.get('location') ?? '', { headers });
  const event = await prisma.event.findFirst({
    where: { type: 'PostSignIn' },
    orderBy: { position: 'desc' },
  });
  expect(event?.data).toMatchObject({ ip: '203.0.113.77' });
});
