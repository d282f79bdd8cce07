import { expect, test, vi } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { ask, graphql } from '../../support/operations/graphql.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { connect } from '../../support/peers/subscriber.ts';
import { startService } from '../../support/service.ts';
import { adminOf, createUser, createWebhook, switchWebhook } from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });

interface Result {
  readonly data?: {
    readonly webhookDeliveries: { readonly id: string; readonly status: string };
  } | null;
  readonly errors?: readonly { readonly extensions: object }[];
}

const follow = (endpoint: { url: string; token: string }, webhookId: string) =>
  connect(endpoint).client.iterate({
    query: `subscription ($webhookId: ID!) {
      webhookDeliveries(webhookId: $webhookId) {
        id status attempts { statusCode } event { id } webhook { id }
      }
    }`,
    variables: { webhookId },
  }) as unknown as AsyncGenerator<Result>;

test('shows the deliveries of a webhook as they change', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id } = await createWebhook(admin, { url: receiver.url });
  const other = await createWebhook(admin, { url: receiver.url });
  const changes = follow(admin, id);
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
  await vi.waitFor(
    async () => {
      await createUser(admin);
      expect([...deliveries.values()]).toContain('SUCCEEDED');
    },
    { timeout: 40_000, interval: 250 },
  );
  await reading;
  const { prisma } = service.app.services.database;
  const rows = await prisma.delivery.findMany({ where: { id: { in: [...deliveries.keys()] } } });
  expect(new Set(rows.map(({ webhookId }) => webhookId))).toEqual(new Set([id]));
  expect(await prisma.delivery.count({ where: { webhookId: other.id } })).toBeGreaterThan(0);
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
      query: 'subscription ($id: ID!) { webhook(id: $id) { id enabled disabledReason } }',
      variables: { id },
    });
    for await (const { data } of changes) states.push({ ...(data?.['webhook'] as object) });
  })();
  let isOn = true;
  await vi.waitFor(
    async () => {
      isOn = !isOn;
      await switchWebhook(admin, id, isOn);
      expect(states).toContainEqual({ id, enabled: isOn, disabledReason: null });
    },
    { timeout: 40_000, interval: 250 },
  );

  await switchWebhook(admin, id, true);
  receiver.answerWith(410);
  await createUser(admin);
  await vi.waitFor(
    () => {
      const disabledReason = 'The endpoint answered 410 Gone.';
      expect(states.at(-1)).toEqual({ id, enabled: false, disabledReason });
    },
    { timeout: 40_000, interval: 250 },
  );
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
