import { expect, onTestFinished, test } from 'vitest';
import { noteOutcomes } from '../../../src/webhooks/delivery/failing.ts';
import { ask, graphql, payload } from '../../support/operations/graphql.ts';
import { startReceiver, verify } from '../../support/peers/receiver.ts';
import { startService } from '../../support/service.ts';
import {
  adminOf,
  advance,
  attempted,
  createUser,
  createWebhook,
  readWebhook,
  succeeded,
  switchWebhook,
  type WebhookSeen,
  webhookUntil,
} from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
// A retry comes when the test moves the clock.
service.clock.freeze();

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const Rotate = graphql(`
  mutation RotateForTest($id: ID!) {
    rotateWebhookSecret(input: { id: $id }) {
      __typename
      ... on RotateWebhookSecretPayload { secret webhook { id } }
      ... on Error { message }
    }
  }
`);

async function rotate(id: string): Promise<string> {
  const { rotateWebhookSecret } = await ask(await adminOf(service), Rotate, { id });
  return payload(rotateWebhookSecret, 'RotateWebhookSecretPayload').secret;
}

test('repeats an attempt at its time, without a hint', async () => {
  const receiver = await startReceiver();
  receiver.answerWith(500);
  const { id } = await createWebhook(await adminOf(service), { url: receiver.url });
  await createUser(await adminOf(service));
  await attempted(await adminOf(service), id);
  receiver.answerWith(204);
  service.clock.advance(minute);
  await receiver.arrived(2);
  await succeeded(await adminOf(service), id);
  await switchWebhook(await adminOf(service), id, false);
});

test('posts an event that the standardwebhooks package verifies', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id, secret } = await createWebhook(admin, {
    url: receiver.url,
    headers: { authorization: 'Bearer of the receiver' },
  });
  const user = await createUser(admin);

  const [message] = await receiver.arrived(1);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(message && verify(secret, message, service.clock.now())).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: 'User.Created',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    actor: { type: 'APPLICATION', id: service.admin.id },
    data: expect.objectContaining({ id: user.id, username: user.username, hasPassword: false }),
  });
  expect(message?.headers).toMatchObject({
    'webhook-id': message?.json.id,
    'content-type': 'application/json',
    authorization: 'Bearer of the receiver',
  });
  const { deliveries } = await succeeded(admin, id);
  expect(deliveries).toEqual([
    expect.objectContaining({
      id: expect.stringMatching(/^dlv_/),
      eventType: 'USER_CREATED',
      nextAttemptAt: null,
      isTest: false,
      event: { id: message?.json.id, name: 'User.Created', data: message?.json.data },
      attempts: [expect.objectContaining({ statusCode: 204, responseBody: '', error: null })],
    }),
  ]);
});

test('signs so that one changed byte fails', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { secret } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  const [message] = await receiver.arrived(1);
  if (!message) throw new Error('One message arrived.');

  const now = service.clock.now();
  verify(secret, message, now);
  for (const changed of [
    { ...message, body: message.body.replace('user', 'usex') },
    { ...message, headers: { ...message.headers, 'webhook-id': 'evt_other' } },
    {
      ...message,
      headers: {
        ...message.headers,
        'webhook-timestamp': String(Number(message.headers['webhook-timestamp']) + 1),
      },
    },
  ]) {
    expect(() => verify(secret, changed, now)).toThrow('No matching signature');
  }
});

test('signs with both secrets for a day after rotation', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id, secret: old } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  const before = (await receiver.arrived(1))[0];
  const then = service.clock.now();
  expect(before && verify(old, before, then)).toBeDefined();

  const current = await rotate(id);
  await createUser(admin);
  const during = (await receiver.arrived(2))[1];
  expect(during && verify(old, during, then)).toBeDefined();
  expect(during && verify(current, during, then)).toBeDefined();

  advance(service, day);
  await createUser(await adminOf(service));
  const after = (await receiver.arrived(3))[2];
  if (!after) throw new Error('Three messages arrived.');
  const now = service.clock.now();
  expect(verify(current, after, now)).toBeDefined();
  expect(() => verify(old, after, now)).toThrow('No matching signature');
});

test('tries again on the schedule, and gives up after it', async () => {
  const receiver = await startReceiver();
  receiver.answerWith((response) => void response.writeHead(500).end('out of order'));
  const { id } = await createWebhook(await adminOf(service), { url: receiver.url });
  await createUser(await adminOf(service));

  const hours = [2, 5, 10, 14, 20, 24].map((count) => count * hour);
  const delays = [5 * second, 5 * minute, 30 * minute, ...hours];
  for (const [index, delay] of delays.entries()) {
    const { delivery } = await attempted(await adminOf(service), id, index + 1);
    const last = delivery?.attempts.at(-1);
    expect(last).toMatchObject({
      statusCode: 500,
      responseBody: 'out of order',
      error: 'answered 500',
    });
    expect(delivery?.status).toBe('PENDING');
    const waits = Date.parse(delivery?.nextAttemptAt ?? '') - Date.parse(last?.at ?? '');
    expect(waits).toBeGreaterThanOrEqual(delay);
    expect(waits).toBeLessThanOrEqual(Math.ceil(delay * 1.1));
    advance(service, Date.parse(delivery?.nextAttemptAt ?? '') - service.clock.now().getTime());
  }
  const { deliveries } = await webhookUntil(
    await adminOf(service),
    id,
    ({ deliveries: [only] }) => only?.status === 'FAILED',
  );
  expect(deliveries[0]).toMatchObject({ nextAttemptAt: null });
  expect(deliveries[0]?.attempts).toHaveLength(10);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  const timestamps = receiver.received.map(({ headers }) => headers['webhook-timestamp']);
  expect(new Set(timestamps).size).toBe(10);
});

test.each([
  ['seconds', () => '7200', 2 * hour],
  ['a date', () => new Date(service.clock.now().getTime() + 3 * hour).toUTCString(), 3 * hour],
  ['days', () => '172800', 2 * day],
  ['more than five days', () => '864000', 5 * day],
  ['nonsense', () => 'soon', 5 * second],
])('honours a Retry-After of %s', async (_kind, value, delay) => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  receiver.answerWith((response) => void response.writeHead(503, { 'retry-after': value() }).end());
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  const { delivery } = await attempted(admin, id);
  const waits =
    Date.parse(delivery?.nextAttemptAt ?? '') - Date.parse(delivery?.attempts[0]?.at ?? '');
  // An HTTP date has whole seconds.
  expect(waits).toBeGreaterThan(delay - second);
  expect(waits).toBeLessThanOrEqual(Math.ceil(delay * 1.1));
});

test('disables a webhook that answers 410; its deliveries wait', async () => {
  const receiver = await startReceiver();
  receiver.answerWith(410);
  const admin = await adminOf(service);
  const { id } = await createWebhook(admin, { url: receiver.url, maxInFlight: 1 });
  await createUser(admin);
  const off = await webhookUntil(
    admin,
    id,
    ({ enabled, deliveries: [first] }) => !enabled && first?.status === 'FAILED',
  );
  expect(off.disabledReason).toContain('410');
  expect(off.deliveries[0]).toMatchObject({ attempts: [{ statusCode: 410 }] });

  receiver.answerWith(204);
  await createUser(admin);
  await switchWebhook(admin, id, true);
  const missed = await createUser(admin);
  const on = await succeeded(admin, id);
  // The event from while it was off is none of its own.
  expect(on.deliveries.map(({ event }) => event?.data['id'])).toEqual([
    missed.id,
    off.deliveries[0]?.event?.data['id'],
  ]);
  expect(on).toMatchObject({ enabled: true, disabledReason: null });
});

test('posts the deliveries that waited as soon as it is enabled again', async () => {
  const receiver = await startReceiver();
  receiver.answerWith(500);
  const admin = await adminOf(service);
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  await attempted(admin, id);
  await switchWebhook(admin, id, false);
  receiver.answerWith(204);
  advance(service, 6000);
  const hinted = new Promise<void>((resolve) => {
    onTestFinished(service.app.services.database.hints.listen('queues', resolve));
  });
  await switchWebhook(admin, id, true);
  // Without a hint, the embedded database is asked again only after a minute.
  await hinted;
  await receiver.arrived(2);
});

test('is not disabled by a 410 from its old URL', async () => {
  const admin = await adminOf(service);
  const [old, next] = [await startReceiver(), await startReceiver()];
  const held = Promise.withResolvers<void>();
  old.answerWith((response) => void held.promise.then(() => response.writeHead(410).end()));
  const { id } = await createWebhook(admin, { url: old.url });
  await createUser(admin);
  await old.arrived(1);
  await ask(
    admin,
    graphql(`
      mutation LeadElsewhere($id: ID!, $url: URL!) {
        updateWebhook(input: { id: $id, url: $url }) { __typename }
      }
    `),
    { id, url: next.url },
  );
  held.resolve();
  const { enabled } = await webhookUntil(
    admin,
    id,
    ({ deliveries: [only] }) => only?.attempts[0]?.statusCode === 410,
  );
  expect(enabled).toBe(true);
  await createUser(admin);
  await next.arrived(1);
});

test('disables a webhook after five days of failures only', async () => {
  const receiver = await startReceiver();
  receiver.answerWith(500);
  const { id } = await createWebhook(await adminOf(service), { url: receiver.url });
  await createUser(await adminOf(service));
  await attempted(await adminOf(service), id);
  for (const [index, step] of [day, day, day, day, day - hour].entries()) {
    advance(service, step);
    await createUser(await adminOf(service));
    const { enabled } = await webhookUntil(
      await adminOf(service),
      id,
      ({ deliveries }) =>
        deliveries.every(({ attempts }) => attempts.length > 0) && deliveries.length === index + 2,
    );
    expect(enabled).toBe(true);
  }

  advance(service, hour);
  const off = await webhookUntil(await adminOf(service), id, ({ enabled }) => !enabled);
  expect(off.disabledReason).toContain('five days');
  expect(off.deliveries.some(({ status }) => status === 'PENDING')).toBe(true);

  // Once it is on again, what waited goes out.
  receiver.answerWith(204);
  advance(service, day);
  await switchWebhook(await adminOf(service), id, true);
  await webhookUntil(await adminOf(service), id, ({ deliveries }) =>
    deliveries.every(({ status }) => status === 'SUCCEEDED'),
  );
});

test('tells each webhook of the others, and none of itself', async () => {
  const admin = await adminOf(service);
  const { url } = await startReceiver();
  const [first, second] = [
    await createWebhook(admin, { url, events: [] }),
    await createWebhook(admin, { url, events: [] }),
  ];
  await switchWebhook(admin, first.id, false);
  await switchWebhook(admin, first.id, true);
  // Those of earlier tests may still be switched off meanwhile.
  const named = ({ deliveries }: WebhookSeen) =>
    deliveries
      .map(({ event }) => [event?.name, event?.data['id']])
      .filter(([, id]) => id === first.id || id === second.id);
  const updated = ['Webhook.Data.Updated', first.id];
  expect(named(await webhookUntil(admin, second.id, (seen) => named(seen).length === 2))).toEqual([
    updated,
    updated,
  ]);
  expect(named(await readWebhook(admin, first.id))).toEqual([['Webhook.Created', second.id]]);
});

test('is not disabled by a failure after a long pause', async () => {
  const receiver = await startReceiver();
  receiver.answerWith(500);
  const { id } = await createWebhook(await adminOf(service), { url: receiver.url });
  await createUser(await adminOf(service));
  const attempted = (count: number) => (webhook: WebhookSeen) =>
    webhook.deliveries[0]?.attempts.length === count;
  await webhookUntil(await adminOf(service), id, attempted(1));
  advance(service, 6 * day);
  expect((await webhookUntil(await adminOf(service), id, attempted(2))).enabled).toBe(true);
  advance(service, hour);
  expect((await webhookUntil(await adminOf(service), id, attempted(3))).enabled).toBe(true);
});

test('is not disabled when a crash lost a success', async () => {
  const receiver = await startReceiver();
  const { id } = await createWebhook(await adminOf(service), { url: receiver.url });
  await createUser(await adminOf(service));
  await succeeded(await adminOf(service), id);
  const failure = { isSuccess: false, at: service.clock.now() };
  const ago = (milliseconds: number) => new Date(service.clock.now().getTime() - milliseconds);
  const { prisma } = service.testDatabase.database;
  await prisma.webhook.update({
    where: { id },
    data: { failingSince: ago(6 * day), lastFailureAt: ago(hour) },
  });
  await noteOutcomes(service.app.services, new Map([[id, failure]]));
  expect(await prisma.webhook.findUnique({ where: { id } })).toMatchObject({ enabled: true });
  // And is, where there was none.
  await prisma.deliveryAttempt.deleteMany();
  await prisma.webhook.update({ where: { id }, data: { failingSince: ago(6 * day) } });
  await noteOutcomes(service.app.services, new Map([[id, failure]]));
  expect(await prisma.webhook.findUnique({ where: { id } })).toMatchObject({ enabled: false });
});

test('is not disabled while some attempts succeed', async () => {
  const receiver = await startReceiver();
  receiver.answerWith(500);
  const { id } = await createWebhook(await adminOf(service), { url: receiver.url });
  await createUser(await adminOf(service));
  await attempted(await adminOf(service), id);
  receiver.answerWith(204);
  await createUser(await adminOf(service));
  await succeeded(await adminOf(service), id);
  receiver.answerWith(500);
  advance(service, 6 * day);
  await createUser(await adminOf(service));
  const { enabled } = await webhookUntil(
    await adminOf(service),
    id,
    ({ deliveries: [one] }) => one?.attempts[0]?.statusCode === 500,
  );
  expect(enabled).toBe(true);
});

test('gets events of its types committed while it was on', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  await createUser(admin);
  const { id } = await createWebhook(admin, { url: receiver.url, enabled: false });
  await createUser(admin);
  await switchWebhook(admin, id, true);
  const first = await createUser(admin);
  await switchWebhook(admin, id, false);
  await createUser(admin);
  await switchWebhook(admin, id, true);
  const second = await createUser(admin);
  await receiver.until((received) => received.some(({ json }) => json.data['id'] === second.id));
  const { deliveries } = await webhookUntil(admin, id, ({ deliveries }) =>
    deliveries.every(({ status }) => status === 'SUCCEEDED'),
  );
  expect(deliveries.map(({ event }) => event?.data['id'])).toEqual([second.id, first.id]);

  const roles = await startReceiver();
  const all = await startReceiver();
  await createWebhook(admin, { url: roles.url, events: ['ROLE_CREATED', 'ROLE_DELETED'] });
  await createWebhook(admin, { url: all.url, events: [] });
  await createUser(admin);
  await ask(
    admin,
    graphql(`mutation RoleForWebhook { createRole(input: { name: "A role" }) { __typename } }`),
  );
  // Deliveries about different records arrive in any order, and with them what becomes of other tests' webhooks.
  await all.until((received) =>
    ['Role.Created', 'User.Created'].every((type) =>
      received.some(({ json }) => json.type === type),
    ),
  );
  await roles.arrived(1);
  expect(roles.received.map(({ json }) => json.type)).toEqual(['Role.Created']);
});

test('never exceeds a webhook’s maxInFlight', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  let open = 0;
  let most = 0;
  const release: (() => void)[] = [];
  receiver.answerWith((response) => {
    open += 1;
    most = Math.max(most, open);
    release.push(() => {
      open -= 1;
      response.writeHead(204).end();
    });
  });
  const { id } = await createWebhook(admin, { url: receiver.url, maxInFlight: 2 });
  for (let count = 1; count <= 5; count += 1) await createUser(admin);
  for (let count = 2; count <= 5; count += 1) {
    await receiver.arrived(count);
    release.shift()?.();
  }
  release.shift()?.();
  await webhookUntil(
    admin,
    id,
    ({ deliveries }) =>
      deliveries.length === 5 && deliveries.every(({ status }) => status === 'SUCCEEDED'),
  );
  expect(most).toBe(2);
});
