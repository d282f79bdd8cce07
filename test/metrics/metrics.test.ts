import { createClient } from 'graphql-ws';
import { AggregatorRegistry, Registry } from 'prom-client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { catalogue } from '../../src/metrics/catalogue.ts';
import { addGauge, counterOf } from '../../src/metrics/metrics.ts';
import { version } from '../../src/metrics/version.ts';
import { send } from '../support/operations/graphql.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';
import { adminOf, createUser, createWebhook } from '../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const fixture = await createAccountFixture(service);
const token = await service.managementToken();
const endpoint = { url: service.url, token };

/** The samples of a metric: their labels as shown, and their values. */
async function samples(name: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return new Map(
    Array.from(
      text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm')),
      ([, of, value]) => [of ?? '', Number(value)],
    ),
  );
}

/** How much each sample of a counter grows while something is done. */
async function growth(name: string, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await samples(name);
  await work();
  return Object.fromEntries(
    [...(await samples(name))]
      .map(([labels, value]) => [labels, value - (before.get(labels) ?? 0)] as const)
      .filter(([, grown]) => grown > 0),
  );
}

const operations = (work: () => Promise<unknown>) => growth('signet_operations_total', work);

test('every metric is in the catalogue, and every entry of it is shown', async () => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const shown = Array.from(text.matchAll(/^# TYPE (signet_\S+) (\S+)$/gm), ([, name, type]) => [
    name,
    type,
  ]);
  const expected = Object.entries(catalogue)
    // Only with a sink, with several processes, and with replicas.
    .filter(([name]) => !/^signet_(sink_|workers$|replica|reads_total$)/.test(name))
    .map(([name, { type }]) => [name, type]);
  const byName = ([a = '']: unknown[], [b = '']: unknown[]) => String(a).localeCompare(String(b));
  expect(shown.toSorted(byName)).toEqual(expected.toSorted(byName));
});

test('operations are counted by the field’s name and their outcome, never by the client’s', async () => {
  const named = 'mutation Chosen { mine: createRole(input: { name: "NAME" }) { __typename } }';
  const role = (name: string) => named.replace('NAME', name);
  expect(await operations(() => send(endpoint, role('counted')))).toEqual({
    'operation="createRole",outcome="done"': 1,
  });
  // The name is taken.
  expect(await operations(() => send(endpoint, role('counted')))).toEqual({
    'operation="createRole",outcome="refused"': 1,
  });
  expect(await operations(() => send({ url: service.url }, role('nobody')))).toEqual({
    'operation="createRole",outcome="refused"': 1,
  });
  const narrow = await service.managementToken('users:read');
  expect(await operations(() => send({ ...endpoint, token: narrow }, role('narrow')))).toEqual({
    'operation="createRole",outcome="refused"': 1,
  });
  const dry = 'mutation @dryRun { createRole(input: { name: "dry" }) { __typename } }';
  expect(await operations(() => send(endpoint, dry))).toEqual({});
  const both = '{ users(first: 1) { edges { node { id } } } role(id: "role_0") { id } }';
  expect(await operations(() => send(endpoint, both))).toMatchObject({
    'operation="users",outcome="done"': 1,
  });
});

test('operations are counted over REST, over WebSockets, and of subscriptions', async () => {
  const rest = () =>
    fetch(`${service.url}/api/users`, { headers: { authorization: `Bearer ${token}` } });
  expect(await operations(rest)).toEqual({ 'operation="users",outcome="done"': 1 });
  const client = createClient({
    url: `${service.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
  });
  onTestFinished(async () => client.dispose());
  const query = () =>
    client.iterate({ query: '{ roles(first: 1) { edges { node { id } } } }' }).next();
  expect(await operations(query)).toEqual({ 'operation="roles",outcome="done"': 1 });
  const subscribe = async () => {
    const events = client.iterate({ query: 'subscription { events { __typename } }' });
    const next = events.next();
    await expect.poll(() => samples('signet_subscribers')).toEqual(new Map([['', 1]]));
    await events.return?.();
    await next;
  };
  expect(await operations(subscribe)).toEqual({ 'operation="events",outcome="done"': 1 });
});

test('sign-ins are counted by outcome, and the grants that follow', async () => {
  const person = await fixture.createUser();
  const signIns = (work: () => Promise<unknown>) => growth('signet_sign_ins_total', work);
  const signIn = () => fixture.signInTo(person.username ?? '');
  expect(await signIns(signIn)).toEqual({ 'outcome="succeeded"': 1 });
  expect(await growth('signet_token_requests_total', signIn)).toEqual({
    'grant="authorization_code",outcome="granted"': 1,
  });
  const client = await fixture.createApplication({ allowHeadlessSignIn: true });
  const headless = await startHeadless(service, { clientId: client.id, redirectUri });
  const wrong = () =>
    step(headless.send, 'signInWithPassword', {
      identifier: person.username,
      password: `${password}!`,
    });
  expect(await signIns(wrong)).toEqual({ 'outcome="credential"': 1 });
});

test('token requests are counted by grant, also those that oidc-provider answers', async () => {
  const { client } = fixture;
  const ask = ({ id, secret }: { id: string; secret: string }, form: Record<string, string>) =>
    fetch(`${service.url}/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: id, client_secret: secret, ...form }),
    });
  const code = {
    grant_type: 'authorization_code',
    code: 'no',
    redirect_uri: redirectUri,
    code_verifier: 'v'.repeat(43),
  };
  expect(
    await growth('signet_token_requests_total', async () => {
      await ask(service.admin, {
        grant_type: 'client_credentials',
        resource: 'urn:signet:management',
      });
      await ask(client, code);
      await ask(service.admin, code);
      await ask(service.admin, { grant_type: 'mine' });
    }),
  ).toEqual({
    'grant="client_credentials",outcome="granted"': 1,
    'grant="authorization_code",outcome="invalid_grant"': 1,
    'grant="authorization_code",outcome="unauthorized_client"': 1,
    'grant="unknown",outcome="unsupported_grant_type"': 1,
  });
});

test('a delivery that waits is as old as it is', async () => {
  const goOn = service.clock.freeze();
  onTestFinished(goOn);
  const receiver = await startReceiver();
  const held = Promise.withResolvers<void>();
  receiver.answerWith((response) => void held.promise.then(() => response.writeHead(204).end()));
  expect(await samples('signet_webhook_deliveries_oldest_seconds')).toEqual(new Map([['', 0]]));
  await createWebhook(await adminOf(service), { url: receiver.url, events: ['USER_CREATED'] });
  await createUser(endpoint);
  await receiver.arrived(1);
  service.clock.advance(60_000);
  const [age = 0] = (await samples('signet_webhook_deliveries_oldest_seconds')).values();
  expect(age).toBe(60);
  expect(await samples('signet_webhook_deliveries_in_flight')).toEqual(new Map([['', 1]]));
  held.resolve();
  await expect
    .poll(() => samples('signet_webhook_deliveries_oldest_seconds'))
    .toEqual(new Map([['', 0]]));
});

test('a process says its version, its queue and its pools', async () => {
  expect(await samples('signet_build_info')).toEqual(new Map([[`version="${version}"`, 1]]));
  expect(await samples('signet_hash_queue_waiting')).toEqual(
    new Map([
      ['queue="own"', 0],
      ['queue="imported"', 0],
    ]),
  );
  const pools = await samples('signet_database_pool_connections');
  const expected = inject('postgresql')
    ? ['management', 'tokens'].flatMap((pool) =>
        ['in_use', 'idle', 'waiting'].map((state) => `pool="${pool}",state="${state}"`),
      )
    : [];
  expect([...pools.keys()]).toEqual(expected);
});

test('what a client chooses is no label', async () => {
  for (const path of ['/never', '/never/again']) await fetch(`${service.url}${path}`);
  const routes = [...(await samples('signet_http_request_duration_seconds_count')).keys()];
  expect(routes.join('\n')).not.toContain('never');
  expect(routes).toContainEqual(expect.stringContaining('route="none",status="404"'));
});

test('what cannot be measured hides nothing else', async () => {
  const registry = new Registry();
  addGauge(registry, 'signet_webhook_deliveries_due', async () => {
    throw new Error('The database does not answer.');
  });
  addGauge(registry, 'signet_messages_due', async (gauge) => {
    gauge.set({ channel: 'SMS' }, 1);
    throw new Error('The database does not answer.');
  });
  addGauge(registry, 'signet_subscribers', (gauge) => gauge.set(3));
  const text = await registry.metrics();
  expect(text).toMatch(/^signet_webhook_deliveries_due Nan$/m);
  expect(text).toMatch(/^signet_subscribers 3$/m);
  expect(text).not.toMatch(/^signet_messages_due\{/m);
});

test('the metrics of several processes become one', async () => {
  const processes = [1, 2].map((n) => {
    const registry = new Registry();
    counterOf(registry, 'signet_mutations_total').inc({ outcome: 'done' }, n);
    addGauge(registry, 'signet_webhook_deliveries_due', (gauge) => gauge.set(5));
    addGauge(registry, 'signet_connections', (gauge) => gauge.set(n));
    addGauge(registry, 'signet_build_info', (gauge) => gauge.set({ version }, 1));
    return registry.getMetricsAsJSON();
  });
  // The library's type of it takes one registry's metrics, and its code those of several.
  const all = AggregatorRegistry.aggregate((await Promise.all(processes)) as never);
  const text = await all.metrics();
  expect(text).toMatch(/^signet_mutations_total\{outcome="done"\} 3$/m);
  expect(text).toMatch(/^signet_webhook_deliveries_due 5$/m);
  expect(text).toMatch(/^signet_connections 3$/m);
  expect(text).toMatch(new RegExp(`^signet_build_info\\{version="${version}"\\} 1$`, 'm'));
});
