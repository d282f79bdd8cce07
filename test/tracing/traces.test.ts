import { context } from '@opentelemetry/api';
import { createClient } from 'graphql-ws';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { quietTransaction } from '../../src/db/transaction.ts';
import { newTraceId } from '../../src/ids.ts';
import { queueMessage } from '../../src/messages/queue-message.ts';
import { startTelemetry } from '../../src/tracing/start.ts';
import { basic } from '../support/client-credentials.ts';
import { startCollector } from '../support/peers/otlp-collector.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { startService } from '../support/service.ts';
import { adminOf, createWebhook } from '../support/webhooks.ts';

const collector = await startCollector();
const faults: Record<string, unknown>[] = [];
process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
const telemetry = await startTelemetry(
  {
    ...process.env,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
  },
  pino({}, { write: (line: string) => void faults.push(JSON.parse(line)) }),
);
afterAll(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  await telemetry?.stop();
  context.disable();
  expect(faults).toEqual([]);
});
const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const token = await service.managementToken();
const spanId = '00f067aa0ba902b7';

function post(path: string, body: object, headers: Record<string, string> = {}) {
  return fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

test('a trace goes on from its caller through the operation and the event to the receiver of a webhook', async () => {
  const receiver = await startReceiver();
  await createWebhook(await adminOf(service), { url: receiver.url, events: ['USER_CREATED'] });
  const traceId = newTraceId();
  const response = await post(
    '/api/users',
    { username: 'traced_person', primaryEmail: 'traced@example.com' },
    { traceparent: `00-${traceId}-${spanId}-01` },
  );
  expect(response.status).toBe(201);

  const [hook] = await receiver.arrived(1);
  const [, hookTrace, hookSpan, flags] = String(hook?.headers['traceparent']).split('-');
  expect([hookTrace, flags]).toEqual([traceId, '01']);

  const ofTrace = (name: string | RegExp) =>
    collector.span((span) => span.traceId === traceId && span.name.match(name) !== null);
  const request = await ofTrace(/^POST \/api\/users$/);
  expect(request).toMatchObject({ parentSpanId: spanId, kind: 2, isError: false });
  expect(request.attributes).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 201,
    'http.route': '/api/users',
    'network.protocol.version': '1.1',
  });
  expect(request.resource).toMatchObject({ 'service.name': 'signet' });
  const operation = await ofTrace('mutation createUser');
  expect(operation).toMatchObject({ parentSpanId: request.spanId });
  expect(operation.attributes).toMatchObject({
    'signet.operation': 'createUser',
    'signet.outcome': 'done',
  });
  const statement = await ofTrace(/^INSERT (User|Event)$/);
  expect(statement).toMatchObject({ parentSpanId: operation.spanId, kind: 3 });
  expect(statement.attributes).toMatchObject({
    'db.system.name': 'postgresql',
    'db.operation.name': 'INSERT',
    'db.query.text': expect.stringContaining('INSERT INTO'),
  });
  const delivery = await ofTrace('webhook delivery');
  expect(delivery).toMatchObject({ spanId: hookSpan, parentSpanId: '', kind: 3, isError: false });
  expect(delivery.attributes).toMatchObject({
    'server.address': '127.0.0.1',
    'http.response.status_code': 204,
    'signet.event.type': 'User.Created',
  });
  expect(delivery.attributes['signet.event.id']).toBe(hook?.json.id);

  // The log has it, and the event.
  expect(service.logged).toContainEqual(
    expect.objectContaining({ traceId, msg: 'webhook attempt' }),
  );
  const { user } = (await response.json()) as { user: { id: string } };
  const events = await fetch(`${service.url}/api/events?subjectId=${user.id}&types=USER_CREATED`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await events.json()).toMatchObject({ events: [{ traceId }] });
});

test('without a caller’s trace, the request’s own is that of its log and its events', async () => {
  const { data } = (await (
    await post('/graphql', {
      query:
        'mutation { createUser(input: { username: "own_trace" }) { ... on CreateUserPayload { user { id } } } }',
    })
  ).json()) as { data: { createUser: { user: { id: string } } } };
  const { traceId } = await service.app.services.database.prisma.event.findFirstOrThrow({
    where: { subjectId: data.createUser.user.id, type: 'User.Created' },
  });
  const request = await collector.span((span) => span.traceId === traceId && span.kind === 2);
  expect(request).toMatchObject({ name: 'POST /graphql', parentSpanId: '' });
  const operation = await collector.span(
    (span) => span.traceId === traceId && span.name === 'mutation createUser',
  );
  expect(operation.parentSpanId).toBe(request.spanId);
});

test('a refusal is no error', async () => {
  const traceId = newTraceId();
  const traceparent = `00-${traceId}-${spanId}-01`;
  await post('/api/users', { username: '!' }, { traceparent });
  const refused = await collector.span(
    (span) => span.traceId === traceId && span.name === 'mutation createUser',
  );
  expect(refused).toMatchObject({ isError: false, attributes: { 'signet.outcome': 'refused' } });
});

test('a trace that its caller does not record is not recorded, and goes on', async () => {
  const receiver = await startReceiver();
  await createWebhook(await adminOf(service), { url: receiver.url, events: ['ROLE_CREATED'] });
  const traceId = newTraceId();
  await post('/api/roles', { name: 'unrecorded' }, { traceparent: `00-${traceId}-${spanId}-00` });
  const [hook] = await receiver.arrived(1);
  expect(hook?.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-`));
  // Later spans have come, so these would have.
  const later = newTraceId();
  await post('/api/roles', { name: 'later' }, { traceparent: `00-${later}-${spanId}-01` });
  await collector.span((span) => span.traceId === later && span.kind === 2);
  expect(collector.spans.filter((span) => span.traceId === traceId && span.kind === 2)).toEqual([]);
});

test('a token exchange, a WebSocket’s operation and a message have spans', async () => {
  const exchange = newTraceId();
  await fetch(`${service.url}/oidc/token`, {
    method: 'POST',
    headers: {
      authorization: basic(service.admin.id, service.admin.secret),
      traceparent: `00-${exchange}-${spanId}-01`,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: 'urn:signet:management',
    }),
  });
  const asked = await collector.span((span) => span.traceId === exchange && span.kind === 2);
  expect(asked.name).toBe('POST /oidc/token');
  await collector.span(
    (span) => span.traceId === exchange && span.parentSpanId === asked.spanId && span.kind === 3,
  );

  const socketTrace = newTraceId();
  class Traced extends WebSocket {
    constructor(url: string, protocol?: string) {
      super(url, protocol, { headers: { traceparent: `00-${socketTrace}-${spanId}-01` } });
    }
  }
  const client = createClient({
    url: `${service.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: Traced,
    connectionParams: { authorization: `Bearer ${token}` },
  });
  for await (const { data } of client.iterate({
    query: '{ users(first: 1) { edges { node { id } } } }',
  })) {
    expect(data).toBeTruthy();
  }
  await client.dispose();
  const socket = await collector.span((span) => span.traceId === socketTrace && span.kind === 2);
  const query = await collector.span(
    (span) => span.traceId === socketTrace && span.name === 'query users',
  );
  expect(query.parentSpanId).toBe(socket.spanId);

  const { services } = service.app;
  const traceId = newTraceId();
  const { id } = await quietTransaction(services.database, async (tx) => ({
    id: await queueMessage(
      tx,
      { ...services, traceId },
      {
        channel: 'EMAIL',
        recipient: 'ada@example.com',
        template: 'SIGN_IN',
        language: 'en',
        code: '123456',
        expiresAt: new Date(services.clock.now().getTime() + 600_000),
      },
    ),
  }));
  const sent = await collector.span((span) => span.traceId === traceId);
  expect(sent).toMatchObject({
    name: 'send message',
    parentSpanId: '',
    attributes: { 'signet.message.id': id, 'signet.message.channel': 'EMAIL' },
  });
});

test('nothing that was sent is in a span', async () => {
  await collector.span(({ name }) => name === 'send message');
  const all = Buffer.concat(collector.bytes).toString('latin1');
  for (const value of [
    'traced@example.com',
    'traced_person',
    '123456',
    token,
    service.admin.secret,
  ]) {
    expect(all).not.toContain(value);
  }
  expect(all).toContain('createUser');
});

test('the metrics of /metrics arrive, in OpenTelemetry’s form', async () => {
  telemetry?.sendMetrics(service.app.services.metrics);
  const pointOf = (metric: string, outcome?: string) =>
    expect.poll(() =>
      collector.points.findLast(
        (point) =>
          point.metric === metric &&
          (outcome === undefined || point.attributes['outcome'] === outcome),
      ),
    );
  await pointOf('signet_token_requests_total', 'granted').toMatchObject({
    value: expect.any(Number),
    attributes: { grant: 'client_credentials' },
  });
  await pointOf('signet_build_info').toMatchObject({ value: 1 });
  const histogram = () =>
    collector.points.findLast(
      ({ metric, attributes }) =>
        metric === 'signet_http_request_duration_seconds' && attributes['status'] === 201,
    );
  await expect.poll(histogram).toMatchObject({ value: expect.any(Number) });
  const { value, bucketCounts = [] } = histogram() ?? {};
  expect(value).toBeGreaterThan(0);
  expect(bucketCounts.reduce((sum, count) => sum + count, 0)).toBe(value);
});
