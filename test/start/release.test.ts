import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type App, startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { fetchClientToken } from '../support/client-credentials.ts';
import { callRest } from '../support/operations/rest.ts';
import { release } from '../support/release/data.ts';
import { openRelease, type ReleaseDatabase } from '../support/release/open.ts';

describe('the data of the last release, with the code of today', () => {
  let opened: ReleaseDatabase;
  let app: App;
  let dataDir: string;
  let endpoint: { url: string; token: string };

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'signet-release-'));
    opened = await openRelease();
    app = await startApp({
      config: readConfig({ PORT: '0', DATA_DIR: dataDir, ALLOW_PRIVATE_WEBHOOKS: 'true' }),
      log: pino({ level: 'silent' }),
      opened: { database: opened.database, secret: release.secret },
      consoleFolder: join(dataDir, 'no-console'),
    });
    const token = await fetchClientToken(app, release.admin, {
      resource: 'urn:signet:management',
      scope: 'all',
    });
    endpoint = { url: app.url, token };
  });
  afterAll(async () => {
    await app?.stop();
    await opened?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  test('its records are there, and change', async () => {
    for (const { user } of release.users) {
      const { body } = await callRest(endpoint, 'GET', `/users/${user.id}`);
      expect(body.user ?? body).toMatchObject({ id: user.id, username: user.username });
    }
    const [{ user }] = release.users;
    const { status } = await callRest(endpoint, 'PATCH', `/users/${user.id}`, { name: 'Ada' });
    expect(status).toBe(200);
  });

  test('its log goes on from every cursor that it gave out', async () => {
    const { events } = release.events;
    expect(events.length).toBeGreaterThan(5);
    const { body } = await callRest(endpoint, 'GET', `/events?first=${events.length}`);
    expect(body.events).toMatchObject(events);
    const { endCursor: after } = release.events.pageInfo;
    await callRest(endpoint, 'POST', '/roles', { name: 'of today', type: 'USER' });
    await expect
      .poll(async () => (await callRest(endpoint, 'GET', `/events?after=${after}`)).body.events)
      .toContainEqual(expect.objectContaining({ type: 'ROLE_CREATED' }));
  });

  test('what waited is still to be delivered, and nothing is made twice', async () => {
    const { prisma } = opened.database;
    const ofUsers = { where: { webhookId: release.hook.webhook.id } };
    expect(await prisma.delivery.count(ofUsers)).toBe(release.users.length);
    await callRest(endpoint, 'POST', '/users', { username: 'kurt' });
    await expect.poll(() => prisma.delivery.count(ofUsers)).toBe(release.users.length + 1);
  });
});

test('the changelog names the commit of that release', () => {
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const [, commit] = /^## \d.*commit `([0-9a-f]{7,40})`/m.exec(changelog) ?? [];
  expect(release.commit.startsWith(commit)).toBe(true);
});
