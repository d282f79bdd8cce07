import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { setUpConsole } from '../support/people/console.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { exchange, userToken } from '../support/tokens.ts';
import { createUser, createWebhook, webhookUntil } from '../support/webhooks.ts';

const secrets = {
  ADMIN_PASSWORD: 'a password that is shown nowhere',
  ADMIN_USERNAME: 'root',
  SIGNET_SECRET: 'Xq3vT9-another-secret-for-tests-0bZ1',
};
const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true', ...secrets });
const other = await startSecondNode(service);
// No minute ends between a question and what it is compared with.
service.clock.freeze();
const directory = seedDirectory(service.testDatabase.database, service.clock);

const asking = async (query: string, scope: string, { url } = service) =>
  send({ url, token: await service.managementToken(scope) }, query);

const minutesQuery = (last: number) => `{ statistics { minutes(last: ${last}) {
  at signIns exchanges refusedExchanges mutations deliveries failedDeliveries } } }`;

interface Minute extends Record<string, number | string> {
  readonly at: string;
}

/** The sum of each figure over the last minutes, as a node tells them. */
async function figures(node = service) {
  const { data } = await asking(minutesQuery(10), 'events:read', node);
  const { minutes } = (data as { statistics: { minutes: Minute[] } }).statistics;
  const sum = (name: string) => minutes.reduce((total, minute) => total + Number(minute[name]), 0);
  return {
    signIns: sum('signIns'),
    exchanges: sum('exchanges'),
    refusedExchanges: sum('refusedExchanges'),
    mutations: sum('mutations'),
    deliveries: sum('deliveries'),
    failedDeliveries: sum('failedDeliveries'),
  };
}

describe('service', () => {
  const query = `{ service {
    version nodeId nodeVersion startedAt database databaseVersion baseUrl issuer
    configuration { name value } } }`;

  test('tells what runs, and how it is set up, without a secret', async () => {
    const { data } = await asking(query, 'events:read');
    const { baseUrl, issuer, database } = service.app.services;
    expect(data).toEqual({
      service: {
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        nodeId: expect.stringContaining(String(process.pid)),
        nodeVersion: process.versions.node,
        startedAt: expect.any(String),
        database: database.kind.toUpperCase(),
        databaseVersion: expect.stringMatching(/^\d+/),
        baseUrl,
        issuer,
        configuration: expect.arrayContaining([
          { name: 'BASE_URL', value: baseUrl },
          { name: 'ALLOW_PRIVATE_WEBHOOKS', value: 'true' },
          { name: 'EVENT_RETENTION_DAYS', value: '90' },
          { name: 'AUDIT_RETENTION_DAYS', value: '90' },
          { name: 'SIGNING_ALG', value: 'ES256' },
        ]),
      },
    });
    const told = JSON.stringify(data);
    for (const value of Object.values(secrets).filter((secret) => secret !== 'root')) {
      expect(told).not.toContain(value);
    }
    expect(told).not.toMatch(/DATABASE_URL|postgres:\/\//);
  });

  test('needs events:read, in REST too', async () => {
    const refused = await asking(query, 'users:read roles:write');
    expect(refused.status).toBe(403);
    expect(refused.errors?.[0]?.extensions).toMatchObject({ requiredScope: 'events:read' });
    for (const path of ['service', 'statistics']) {
      const call = async (scope: string) =>
        fetch(`${service.url}/api/${path}`, {
          headers: { authorization: `Bearer ${await service.managementToken(scope)}` },
        });
      expect((await call('users:read')).status).toBe(403);
      const allowed = await call('events:read');
      expect(allowed.status).toBe(200);
      expect(await allowed.json()).toHaveProperty(path);
    }
  });
});

describe('statistics', () => {
  const counts = '{ statistics { users applications organizations roles resources webhooks } }';

  test('count what there is, and tell nothing of what the caller may not read', async () => {
    const { data } = await asking(counts, 'events:read users:read applications:write');
    expect(data).toEqual({
      statistics: {
        users: 1,
        // The admin application, the console and the account pages.
        applications: 3,
        organizations: null,
        roles: null,
        resources: null,
        webhooks: null,
      },
    });
  });

  test('has an entry for each minute, with zeros where nothing was done', async () => {
    const { data } = await asking(minutesQuery(3), 'events:read');
    const { minutes } = (data as { statistics: { minutes: Minute[] } }).statistics;
    const current = Math.floor(service.clock.now().getTime() / 60_000) * 60_000;
    expect(minutes.map(({ at }) => Date.parse(at))).toEqual(
      [2, 1, 0].map((before) => current - before * 60_000),
    );
    for (const last of [0, -1, 1441]) {
      const refused = await asking(minutesQuery(last), 'events:read');
      expect(refused.errors?.[0]?.extensions['code']).toBe('BAD_USER_INPUT');
    }
  });

  test('count mutations that did their work, and no refused ones, on every node', async () => {
    const before = await figures();
    const token = await service.managementToken();
    const create = (url: string, username: string) =>
      send(
        { url, token },
        `mutation { createUser(input: { username: "${username}" }) { __typename } }`,
      );
    await create(service.url, 'one');
    await create(other.url, 'two');
    await create(service.url, 'not a name');
    await fetch(`${service.url}/api/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'three' }),
    });
    // Each node tells its own at once.
    await figures(other);
    expect((await figures()).mutations - before.mutations).toBe(3);
  });

  test('count exchanges and what is refused', async () => {
    const frontend = await directory.createClient({ type: 'SPA' });
    const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
    const resource = await directory.createResource(['read']);
    const user = await directory.createUser();
    const subject = await userToken(service, user.id, frontend);
    const ask = (subjectToken: string) =>
      exchange(service, backend, { resource: resource.indicator, subject_token: subjectToken });
    const before = await figures();
    await ask(subject);
    await ask(subject);
    expect((await ask('no.token.here')).status).toBe(400);
    const after = await figures();
    expect(after.exchanges - before.exchanges).toBe(2);
    expect(after.refusedExchanges - before.refusedExchanges).toBe(1);
  });

  test('count deliveries that succeed and that fail', async () => {
    const admin = { url: service.url, token: await service.managementToken() };
    const receiver = await startReceiver();
    const { id } = await createWebhook(admin, { url: receiver.url });
    const before = await figures();
    await createUser(admin);
    await webhookUntil(admin, id, (webhook) =>
      webhook.deliveries.some(({ status }) => status === 'SUCCEEDED'),
    );
    const after = await figures();
    await figures(other);
    expect((await figures()).deliveries - before.deliveries).toBe(1);
    expect(after.failedDeliveries).toBe(before.failedDeliveries);
  });

  test('count sign-ins', async () => {
    const fresh = await startService();
    const browser = await setUpConsole(fresh);
    const { body } = await browser.ask(minutesQuery(2));
    const { minutes } = (body.data as { statistics: { minutes: Minute[] } }).statistics;
    expect(minutes.reduce((sum, { signIns }) => sum + Number(signIns), 0)).toBe(1);
  });

  test('are kept when a node stops', async () => {
    const node = await startSecondNode(service);
    const before = await figures();
    const token = await service.managementToken();
    await send(
      { url: node.url, token },
      'mutation { createUser(input: { username: "last_words" }) { __typename } }',
    );
    await node.stop();
    expect((await figures()).mutations - before.mutations).toBe(1);
  });
});
