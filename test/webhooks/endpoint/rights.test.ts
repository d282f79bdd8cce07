import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { seedDirectory, type TestClient } from '../../support/operations/directory.ts';
import { graphql, send } from '../../support/operations/graphql.ts';
import { callRest } from '../../support/operations/rest.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { startService } from '../../support/service.ts';
import { userToken } from '../../support/tokens.ts';
import { eventually } from '../../support/wait.ts';
import {
  adminOf,
  advance,
  attempted,
  createUser,
  createWebhook,
  type Endpoint,
  readWebhook,
  webhookUntil,
} from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
// A retry comes when the test moves the clock.
service.clock.freeze();
const { prisma } = service.app.services.database;
const directory = seedDirectory(service.app.services.database, service.clock);
const management = await prisma.resource.findUniqueOrThrow({
  where: { indicator: 'urn:signet:management' },
});

const own = ['webhooks:write', 'events:read', 'users:read'];
const reason = 'Its creator no longer holds the scopes webhooks:write and events:read.';

/** An application that holds what a webhook needs, and users:read, each by a role of its own. */
async function creator(): Promise<{ client: TestClient; endpoint: Endpoint }> {
  const client = await directory.createClient();
  for (const scope of own) await directory.allowClient(client, management, [scope]);
  const token = await service.managementToken(own.join(' '), client);
  return { client, endpoint: { url: service.url, token } };
}

/** Tells the service of a row that a test has written. */
const hint = () => service.app.services.database.hints.send('queues');

/** Takes a scope from an application: the role that holds it. */
async function take(client: TestClient, scope: string) {
  await prisma.applicationRole.deleteMany({
    where: {
      applicationId: client.id,
      role: { scopes: { some: { scope: { name: scope, resourceId: management.id } } } },
    },
  });
  hint();
}

const update = (endpoint: Endpoint, id: string, input: object) =>
  callRest(endpoint, 'PATCH', `/webhooks/${id}`, input);

describe('a URL of another origin', () => {
  const query = 'subscription { events(types: [USER_CREATED]) { name } }';
  const headers = { authorization: 'Bearer of-the-first-host' };

  test('drops query, headers and stored result', async () => {
    const admin = await adminOf(service);
    const [first, second] = [await startReceiver(), await startReceiver()];
    first.answerWith(500);
    const { id } = await createWebhook(admin, { url: first.url, query, headers });
    const user = await createUser(admin);
    await attempted(admin, id);
    expect((await update(admin, id, { url: second.url })).body).toMatchObject({
      webhook: { query: null, headers: [] },
    });
    advance(service, 6000);
    const [message] = await second.arrived(1);
    expect(message?.headers).not.toHaveProperty('authorization');
    expect(message?.json.data).toMatchObject({ id: user.id, username: user.username });
  });

  test('accepts query and headers that are given again', async () => {
    const admin = await adminOf(service);
    const receiver = await startReceiver();
    const url = 'http://127.0.0.1:9/hook';
    const { id } = await createWebhook(admin, { url, query, headers });
    const again = { url: receiver.url, query, headers: { authorization: 'Bearer of-the-second' } };
    expect((await update(admin, id, again)).body.webhook).toMatchObject({ query });
    await createUser(admin);
    const [message] = await receiver.arrived(1);
    expect(message?.headers['authorization']).toBe('Bearer of-the-second');
    expect(message?.json.data).toEqual({ events: { name: 'User.Created' } });
  });

  test('differs from one of the same origin, which keeps both', async () => {
    const admin = await adminOf(service);
    const url = 'http://127.0.0.1:9/hook';
    const { id } = await createWebhook(admin, { url, query, headers });
    const { body } = await update(admin, id, { url: 'http://127.0.0.1:9/elsewhere' });
    expect(body.webhook).toMatchObject({ query, headers: ['authorization'] });
  });
});

describe('the result that somebody with more has read', () => {
  const query =
    'subscription { events(types: [USER_CREATED]) { name ... on UserCreatedEvent { user { username } } } }';
  const redeliver = (endpoint: Endpoint, deliveryId: string) =>
    callRest(endpoint, 'POST', `/deliveries/${deliveryId}/redeliver`);

  /** A webhook of an administrator, and of nobody with more than it takes once somebody has changed it. */
  async function taken() {
    const admin = await adminOf(service);
    const narrow = {
      url: service.url,
      token: await service.managementToken('webhooks:write events:read'),
    };
    const [first, second] = [await startReceiver(), await startReceiver()];
    const { id } = await createWebhook(admin, { url: first.url, query });
    const own = async () => {
      const [message] = await second.arrived(1);
      expect(message?.json.data).toMatchObject({ events: { name: 'User.Created' } });
      expect(message?.body).not.toContain('username":"');
    };
    return { admin, narrow, first, second, id, own };
  }

  test('is not for whoever takes a failed delivery over', async () => {
    const { admin, narrow, first, second, id, own } = await taken();
    first.answerWith(410);
    await createUser(admin);
    const { deliveries } = await webhookUntil(
      admin,
      id,
      ({ deliveries: [only] }) => only?.status === 'FAILED',
    );
    await update(narrow, id, { url: second.url, query, enabled: true });
    await redeliver(narrow, String(deliveries[0]?.id));
    await own();
  });

  test('is not for another address of its host', async () => {
    const { admin, narrow, first, id } = await taken();
    first.answerWith(500);
    await createUser(admin);
    await attempted(admin, id);
    await update(narrow, id, { url: `${first.url}/mine` });
    advance(service, 6000);
    const message = (await first.arrived(2))[1];
    expect(message?.json.data).toMatchObject({ events: { name: 'User.Created' } });
    expect(message?.body).not.toContain('username":"');
  });

  test('is not for whoever takes it over during an attempt', async () => {
    const { admin, narrow, first, second, id, own } = await taken();
    const held: ServerResponse[] = [];
    first.answerWith((response) => held.push(response));
    await createUser(admin);
    await first.arrived(1);
    await update(narrow, id, { url: second.url, query });
    held[0]?.writeHead(500).end();
    await attempted(admin, id);
    advance(service, 6000);
    await own();
  });
});

describe('a webhook', () => {
  test.each(['webhooks:write', 'events:read'])(
    'is disabled when its creator loses %s',
    async (scope) => {
      const { client, endpoint } = await creator();
      const admin = await adminOf(service);
      const receiver = await startReceiver();
      const input = { url: receiver.url };
      const { id } = await createWebhook(endpoint, input);
      const other = await createWebhook(admin, input);
      await createUser(admin);
      await receiver.arrived(2);
      await take(client, scope);
      const off = await webhookUntil(admin, id, ({ enabled }) => !enabled);
      expect(off.disabledReason).toBe(reason);
      const about = { where: { subjectId: id }, orderBy: { position: 'asc' } } as const;
      expect(await prisma.event.findMany(about)).toMatchObject([
        { type: 'Webhook.Created', actor: { type: 'APPLICATION' } },
        {
          type: 'Webhook.Data.Updated',
          actor: { type: 'SYSTEM', id: null },
          data: {
            enabled: false,
            changes: {
              enabled: { from: true, to: false },
              disabledReason: { from: null, to: reason },
            },
          },
        },
      ]);
      await createUser(admin);
      await receiver.arrived(3);
      expect((await readWebhook(admin, id)).deliveries).toHaveLength(1);
      expect((await readWebhook(admin, other.id)).enabled).toBe(true);
    },
  );

  test('is disabled when its creator is deleted', async () => {
    const { client, endpoint } = await creator();
    const admin = await adminOf(service);
    const { id } = await createWebhook(endpoint, { url: 'http://127.0.0.1:9/' });
    const hinted = new Promise<void>((resolve) => {
      onTestFinished(service.app.services.database.hints.listen('queues', resolve));
    });
    expect((await callRest(admin, 'DELETE', `/applications/${client.id}`)).status).toBe(200);
    // Without a hint, the embedded database is asked again only after a minute.
    await hinted;
    expect(await webhookUntil(admin, id, ({ enabled }) => !enabled)).toMatchObject({
      disabledReason: reason,
    });
  });

  test('of a user is disabled when the user is suspended', async () => {
    const user = await directory.createUser();
    await directory.allowUser(user, management, own);
    const client = await directory.createClient();
    const claims = { aud: 'urn:signet:management', scope: own.join(' ') };
    const token = await userToken(service, user.id, client, claims);
    const admin = await adminOf(service);
    const url = 'http://127.0.0.1:9/';
    const { id } = await createWebhook({ url: service.url, token }, { url });
    await prisma.user.update({ where: { id: user.id }, data: { isSuspended: true } });
    hint();
    await webhookUntil(admin, id, ({ disabledReason }) => disabledReason === reason);
  });

  test('by an organization role lasts as long as the role', async () => {
    const client = await directory.createClient();
    const organization = await directory.createOrganization();
    const scopes = { resource: management, resourceScopes: own };
    await directory.addClient(organization, client, scopes);
    const token = await service.managementToken(own.join(' '), client);
    const admin = await adminOf(service);
    const receiver = await startReceiver();
    const { id } = await createWebhook({ url: service.url, token }, { url: receiver.url });
    await createUser(admin);
    await receiver.arrived(1);
    await prisma.organization.delete({ where: { id: organization.id } });
    hint();
    await webhookUntil(admin, id, ({ disabledReason }) => disabledReason === reason);
  });

  test('belongs to the caller who enables it again', async () => {
    const { client, endpoint } = await creator();
    const admin = await adminOf(service);
    const receiver = await startReceiver();
    const { id } = await createWebhook(endpoint, { url: receiver.url });
    await take(client, 'events:read');
    await webhookUntil(admin, id, ({ enabled }) => !enabled);
    expect((await update(admin, id, { enabled: true })).body.webhook).toMatchObject({
      enabled: true,
      disabledReason: null,
    });
    await createUser(admin);
    await receiver.arrived(1);
    expect((await readWebhook(admin, id)).enabled).toBe(true);
  });

  test('runs its query with its creator’s remaining scopes', async () => {
    const { client, endpoint } = await creator();
    const admin = await adminOf(service);
    const receiver = await startReceiver();
    receiver.answerWith(500);
    const query = `subscription { events(types: [USER_CREATED]) { name ... on UserCreatedEvent { user { id } } } }`;
    const { id } = await createWebhook(endpoint, { url: receiver.url, query });
    const user = await createUser(admin);
    await attempted(admin, id);
    expect(receiver.received[0]?.json.data).toMatchObject({ events: { user: { id: user.id } } });
    await take(client, 'users:read');
    receiver.answerWith(204);
    await eventually(async () => {
      const { length } = receiver.received;
      await createUser(admin);
      const arrived = await receiver.arrived(length + 1);
      expect(arrived.at(-1)?.json.data).toEqual({
        events: { name: 'User.Created', user: null },
      });
    });
    const seen = receiver.received.length;
    advance(service, 6000);
    const retried = await receiver.until((all) =>
      all
        .slice(seen)
        .some(({ headers }) => headers['webhook-id'] === receiver.received[0]?.json.id),
    );
    const last = retried.findLast(({ json }) => json.id === receiver.received[0]?.json.id);
    expect(last?.json.data).toEqual({ events: { name: 'User.Created', user: null } });
    expect((await readWebhook(admin, id)).enabled).toBe(true);
  });
});

test('requires events:read to create or change it', async () => {
  const token = await service.managementToken('webhooks:write');
  const narrow = { url: service.url, token };
  const { id } = await createWebhook(await adminOf(service), { url: 'http://127.0.0.1:9/' });
  const create = graphql(`
    mutation CreateWithoutEvents($url: URL!) {
      createWebhook(input: { name: "None", url: $url }) { __typename }
    }
  `);
  const { status, errors } = await send(narrow, create, { url: 'http://127.0.0.1:9/' });
  expect(status).toBe(403);
  expect(errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN', requiredScope: 'events:read' });
  expect(await update(narrow, id, { name: 'Other' })).toMatchObject({
    status: 403,
    body: { code: 'FORBIDDEN', requiredScope: 'events:read' },
  });
});
