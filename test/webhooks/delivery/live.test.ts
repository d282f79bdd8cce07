import { describe, expect, test } from 'vitest';
import { decodePosition, encodePosition } from '../../../src/events/position.ts';
import { newId } from '../../../src/ids.ts';
import { ask, graphql } from '../../support/operations/graphql.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { connect } from '../../support/peers/subscriber.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import {
  adminOf,
  createUser,
  createWebhook,
  type Endpoint,
  switchWebhook,
  webhookUntil,
} from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
// No lease runs out while the machine is busy.
service.clock.freeze();

interface Result {
  readonly data?: {
    readonly webhookDeliveries: { readonly id: string; readonly status: string };
  } | null;
  readonly errors?: readonly { readonly extensions: object }[];
}

const follow = (
  endpoint: { url: string; token: string },
  webhookId: string,
  after?: string | undefined,
) =>
  connect(endpoint).client.iterate({
    query: `subscription ($webhookId: ID!, $after: String) {
      webhookDeliveries(webhookId: $webhookId, after: $after) {
        id status attempts { statusCode } event { id } webhook { id }
      }
    }`,
    variables: { webhookId, after },
  }) as unknown as AsyncGenerator<Result>;

test.each(['the same', 'another'])(
  'shows the deliveries of a webhook as they change, on %s node',
  async (where) => {
    const admin = await adminOf(service);
    const node = where === 'another' ? await startSecondNode(service) : service;
    const receiver = await startReceiver();
    const { id } = await createWebhook(admin, { url: receiver.url });
    const other = await createWebhook(admin, { url: receiver.url });
    const changes = follow({ ...admin, url: node.url }, id);
    const deliveries = new Map<string, string>();
    const reading = (async () => {
      for await (const { data, errors } of changes) {
        const seen = data?.webhookDeliveries;
        if (!seen) throw new Error(JSON.stringify(errors));
        expect(seen).toMatchObject({
          webhook: { id },
          event: { id: expect.stringMatching(/^evt_/) },
          attempts: seen.status === 'SUCCEEDED' ? [{ statusCode: 204 }] : [],
        });
        deliveries.set(seen.id, seen.status);
        if (seen.status === 'SUCCEEDED') return;
      }
    })();
    // A subscription does not tell when it has begun: there is something to see until it sees something.
    await eventually(async () => {
      await createUser(admin);
      expect([...deliveries.values()]).toContain('SUCCEEDED');
    }, 250);
    await reading;
    const { prisma } = service.app.services.database;
    const rows = await prisma.delivery.findMany({ where: { id: { in: [...deliveries.keys()] } } });
    expect(new Set(rows.map(({ webhookId }) => webhookId))).toEqual(new Set([id]));
    expect(await prisma.delivery.count({ where: { webhookId: other.id } })).toBeGreaterThan(0);
  },
);

const Page = graphql(`
  query DeliveriesToFollow($id: ID!) {
    webhook(id: $id) { deliveries { cursor edges { node { id } } } }
  }
`);

/** A page of deliveries, once all that it holds is settled: none of it is sent again. */
const settledPage = async (endpoint: Endpoint, id: string) => {
  const { prisma } = service.app.services.database;
  return eventually(async () => {
    const { webhook } = await ask(endpoint, Page, { id });
    const { cursor = '', edges = [] } = webhook?.deliveries ?? {};
    const [row] = await prisma.$queryRaw<{ isSettled: boolean }[]>`
      SELECT bool_and("changedIn" < ${decodePosition(cursor)?.xid}::xid8) AS "isSettled"
        FROM "Delivery" WHERE "webhookId" = ${id}`;
    expect(row?.isSettled).toBe(true);
    return { cursor, ids: edges.map(({ node }) => node.id) };
  });
};

describe('with a cursor', () => {
  test('sends each later change that is not in the page, and then goes on', async () => {
    const admin = await adminOf(service);
    const receiver = await startReceiver();
    const { id } = await createWebhook(admin, { url: receiver.url });
    const isDone = (count: number) =>
      webhookUntil(
        admin,
        id,
        ({ deliveries }) =>
          deliveries.filter(({ status }) => status === 'SUCCEEDED').length === count,
      );
    await createUser(admin);
    await isDone(1);
    const before = await settledPage(admin, id);
    await createUser(admin);
    await isDone(2);
    const changes = follow(admin, id, before.cursor);
    const { value } = await changes.next();
    const second = (value as Result).data?.webhookDeliveries;
    expect(second).toMatchObject({ status: 'SUCCEEDED' });
    expect(before.ids).not.toContain(second?.id);
    await createUser(admin);
    const third = await changes.next();
    expect([...before.ids, second?.id]).not.toContain(
      (third.value as Result).data?.webhookDeliveries.id,
    );
  });

  test('goes on from a page after which nobody has written anything', async () => {
    const admin = await adminOf(service);
    const receiver = await startReceiver();
    const { id } = await createWebhook(admin, { url: receiver.url });
    const { webhook } = await ask(admin, Page, { id });
    const first = follow(admin, id, webhook?.deliveries.cursor).next();
    // The subscription begins before the user is written: it has been asked for longer than this.
    const beside = connect(admin).client.iterate({ query: '{ __typename }' });
    await beside.next();
    await createUser(admin);
    const { value } = await first;
    expect(value).toMatchObject({ data: { webhookDeliveries: { id: expect.any(String) } } });
  });

  test.each([
    ['malformed', 'x', 'BAD_USER_INPUT'],
    [
      'of another log',
      encodePosition({ xid: '9000000000', position: 1n, eventId: null }),
      'CURSOR_EXPIRED',
    ],
  ])('refuses one that is %s', async (_title, cursor, code) => {
    const admin = await adminOf(service);
    const { id } = await createWebhook(admin, { url: 'https://hooks.example.com' });
    const { value } = await follow(admin, id, cursor).next();
    expect((value as Result).errors?.[0]?.extensions).toMatchObject({ code });
  });
});

const Delete = graphql(`
  mutation DeleteWebhookThatIsFollowed($id: ID!) {
    deleteWebhook(input: { id: $id }) { __typename ... on Error { message } }
  }
`);

test('shows a webhook as it changes, until it is deleted', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id } = await createWebhook(admin, { url: receiver.url });
  const states: object[] = [];
  const following = (async () => {
    const changes = connect(admin).client.iterate({
      query:
        'subscription ($id: ID!) { webhook(id: $id) { id enabled disabledReason failingSince } }',
      variables: { id },
    });
    for await (const { data } of changes) states.push({ ...(data?.['webhook'] as object) });
  })();
  let isOn = true;
  await eventually(async () => {
    isOn = !isOn;
    await switchWebhook(admin, id, isOn);
    expect(states).toContainEqual({ id, enabled: isOn, disabledReason: null, failingSince: null });
  }, 250);

  await switchWebhook(admin, id, true);
  for (const [status, failingSince] of [
    [500, service.clock.now().toISOString()],
    [204, null],
  ] as const) {
    receiver.answerWith(status);
    await createUser(admin);
    await eventually(() => expect(states.at(-1)).toMatchObject({ enabled: true, failingSince }));
  }
  receiver.answerWith(410);
  await createUser(admin);
  await eventually(() => {
    const disabledReason = 'The endpoint answered 410 Gone.';
    expect(states.at(-1)).toMatchObject({ id, enabled: false, disabledReason });
  });
  const { deleteWebhook } = await ask(admin, Delete, { id });
  expect(deleteWebhook.__typename).toBe('DeleteWebhookPayload');
  await following;
});

test('ends when the webhook is deleted, or was never there', async () => {
  const admin = await adminOf(service);
  const { id } = await createWebhook(admin, { url: 'https://hooks.example.com' });
  const changes = follow(admin, id);
  const end = changes.next();
  await ask(admin, Delete, { id });
  expect(await end).toEqual({ done: true, value: undefined });
  expect(await follow(admin, newId('Webhook')).next()).toEqual({ done: true, value: undefined });
});

test('refuses callers without webhooks:read', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id } = await createWebhook(admin, { url: receiver.url });
  const other = { url: service.url, token: await service.managementToken('events:read') };
  const { value } = await follow(other, id).next();
  expect((value as Result).errors?.[0]?.extensions).toMatchObject({
    code: 'FORBIDDEN',
    requiredScope: 'webhooks:read',
  });
});
