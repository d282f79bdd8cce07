import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { encodePosition, logStart } from '../../src/events/position.ts';
import { newId } from '../../src/ids.ts';
import { fetchManagementToken } from './client-credentials.ts';
import { Cluster } from './ordeal/cluster.ts';
import { createNatsServer } from './peers/nats.ts';
import { patienceMs } from './peers/patience.ts';
import { lateBy } from './wait.ts';

// Runs outside of a test too: nothing here comes from vitest.

/** The kills and the load of a run, and the settings of the service. */
export interface Ordeal {
  /** Variables of every node: DATA_DIR for one node, DATABASE_URL for several. */
  readonly environment: Readonly<Record<string, string>>;
  readonly nodes: number;
  /** How many processes of the one node answer requests; then these are killed, and not the node. */
  readonly workers?: number;
  /** The least number of acknowledged mutations. */
  readonly mutations: number;
  /** How often a node is killed during the mutations; nodes take turns. */
  readonly kills: number;
  /** Whether a NATS JetStream server is the event sink. */
  readonly hasSink: boolean;
  /** Whether each mutation has an `Idempotency-Key`, and is sent again, to the next node, until it is acknowledged. */
  readonly isKeyed?: boolean;
  /** Each takes the database away, at its share of the mutations, and brings another in its place. */
  readonly failOvers?: readonly (() => Promise<void>)[];
}

/** The result of a run. Each list has ids of events, in the order in which that side has them. */
export interface Findings {
  /** The users whose creation was acknowledged. */
  readonly acknowledged: readonly string[];
  /** Answers that the database was away. */
  readonly unavailable: number;
  /** For each failover, from its end to the first acknowledgement of a mutation that was sent after it. */
  readonly resumedAfterMs: readonly number[];
  /** The longest time between two acknowledgements. */
  readonly longestGapMs: number;
  /** Answers that were neither an acknowledgement nor a broken connection. */
  readonly refused: readonly string[];
  /** The lines of errors in the logs of the nodes. */
  readonly errors: readonly string[];
  readonly kills: number;
  /** Connections that broke during a mutation; such a mutation is not acknowledged, and may be lost or not. */
  readonly broken: number;
  readonly log: readonly string[];
  /** Of those in the log, the ids for the webhook: all that are not about itself. */
  readonly logForWebhook: readonly string[];
  /** The user of each `User.Created` in the log, in its order. */
  readonly logged: readonly string[];
  /** Every arrival, repetitions included. */
  readonly webhook: readonly string[];
  readonly subscriber: readonly string[];
  /** Why the subscriber lost its connections, after each of which it connected again with its last cursor. */
  readonly disconnections: readonly string[];
  /** Undefined without a sink. */
  readonly sink: readonly string[] | undefined;
  readonly mutationSeconds: number;
  readonly settleSeconds: number;
}

const connections = 16;
const againMs = 50;
/**
 * Deliveries of a killed node wait until its lease of 15 seconds runs out; the rest is for retries and slow machines.
 */
const settleMs = 3 * patienceMs;

const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };

interface Answer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

async function ask<Data>(
  url: string,
  token: string,
  query: string,
  variables: object,
  key?: string,
): Promise<Answer<Data>> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...(key ? { 'idempotency-key': key } : {}),
    },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as Answer<Data>;
}

/** The faults after which the same call may be made again. */
const passing = new Set(['SERVICE_UNAVAILABLE', 'IDEMPOTENCY_KEY_IN_USE']);

/** An endpoint that accepts every message, and keeps the ids in the order of arrival. */
async function startReceiver(onNews: () => void) {
  const ids: string[] = [];
  const distinct = new Set<string>();
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const id = String(request.headers['webhook-id']);
      ids.push(id);
      distinct.add(id);
      onNews();
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    ids,
    hasAll: (log: readonly string[]) => log.every((id) => distinct.has(id)),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A subscriber that reconnects to the next node with its last cursor. */
function startSubscriber(cluster: Cluster, token: string, onNews: () => void) {
  const ids: string[] = [];
  const distinct = new Set<string>();
  let cursor = encodePosition(logStart);
  const disconnections: string[] = [];
  let isStopped = false;
  let client: ReturnType<typeof createClient> | undefined;

  async function run(): Promise<void> {
    while (!isStopped) {
      const url = await cluster.url(disconnections.length);
      client = createClient({
        url: `${url.replace(/^http/, 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { authorization: `Bearer ${token}` },
      });
      try {
        const results = client.iterate<{ events: { id: string; cursor: string } }>({
          query: 'subscription ($after: String) { events(after: $after) { id cursor name data } }',
          variables: { after: cursor },
        });
        for await (const { data, errors } of results) {
          if (errors) throw new Error(JSON.stringify(errors));
          if (!data) continue;
          ids.push(data.events.id);
          distinct.add(data.events.id);
          cursor = data.events.cursor;
          onNews();
        }
        disconnections.push('completed');
      } catch (error) {
        disconnections.push(reasonOf(error));
        await lateBy(againMs);
      }
    }
  }

  const running = run();
  return {
    ids,
    hasAll: (log: readonly string[]) => log.every((id) => distinct.has(id)),
    disconnections,
    async stop() {
      isStopped = true;
      // It fails where the client is about to connect to a node that does not let it.
      await client?.dispose()?.catch(() => undefined);
      await running;
    },
  };
}

/** What a client of graphql-ws throws: an error, or the event of a connection that failed or was closed. */
function reasonOf(thrown: unknown): string {
  const { code, reason, message } = thrown as { code?: unknown; reason?: string; message?: string };
  return [code, reason, message].filter(Boolean).join(' ');
}

/** Reads the stream until it has the whole log, or the signal ends it. */
async function readSink(
  url: string,
  log: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const connection = await connectNats({ servers: url });
  const ids: string[] = [];
  const missing = new Set(log);
  try {
    const manager = await jetstreamManager(connection);
    await manager.streams.info('SIGNET_EVENTS');
    const consumer = await jetstream(connection).consumers.get('SIGNET_EVENTS');
    const messages = await consumer.consume();
    signal.addEventListener('abort', () => messages.stop());
    if (missing.size > 0) {
      for await (const message of messages) {
        const { id } = message.json<{ id: string }>();
        ids.push(id);
        missing.delete(id);
        if (missing.size === 0) break;
      }
    }
  } finally {
    await connection.close();
  }
  return ids;
}

async function readLog(url: string, token: string) {
  const query = `query ($after: String) {
    events(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor } edges { node { id name data } }
    }
  }`;
  interface Page {
    readonly events: {
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
      readonly edges: readonly {
        readonly node: {
          readonly id: string;
          readonly name: string;
          readonly data: Readonly<Record<string, unknown>>;
        };
      }[];
    };
  }
  const found: Page['events']['edges'][number]['node'][] = [];
  for (let after: string | null = null; ; ) {
    const { data, errors }: Answer<Page> = await ask<Page>(url, token, query, { after });
    if (!data) throw new Error(`The log cannot be read: ${JSON.stringify(errors)}`);
    found.push(...data.events.edges.map(({ node }) => node));
    if (!data.events.pageInfo.hasNextPage) return found;
    after = data.events.pageInfo.endCursor;
  }
}

const createUser = `mutation ($username: String!) {
  createUser(input: { username: $username }) { ... on CreateUserPayload { user { id } } }
}`;

/**
 * Runs mutations on 16 connections while the service's nodes are killed with -9 and restarted. A webhook, a subscriber
 * and, if wanted, a sink are attached. Then waits until each has all events of the log, for {@link settleMs} at most.
 */
export async function undergo(ordeal: Ordeal): Promise<Findings> {
  await using ends = new AsyncDisposableStack();
  let news = () => {};
  const nats = ordeal.hasSink ? await createNatsServer() : undefined;
  ends.defer(() => nats?.close());
  await nats?.start();
  const receiver = await startReceiver(() => news());
  ends.defer(receiver.close);
  const cluster = new Cluster(
    {
      ...ordeal.environment,
      ...(ordeal.workers ? { WORKERS: String(ordeal.workers) } : {}),
      SIGNET_SECRET: 'a secret for tests only, and a long one',
      ADMIN_CLIENT_ID: admin.id,
      ADMIN_CLIENT_SECRET: admin.secret,
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      // One issuer, so that tokens are valid at every node and after every restart.
      BASE_URL: 'http://localhost:3000',
      ...(nats ? { EVENT_SINK_URL: nats.url } : {}),
    },
    ordeal.nodes,
  );
  ends.defer(() => cluster.stopAll());
  await cluster.startAll();
  const token = await fetchManagementToken({ url: await cluster.url(0) }, admin);
  const hook = await ask<{ createWebhook: { webhook?: { id: string } } }>(
    await cluster.url(0),
    token,
    `mutation ($url: URL!) {
      createWebhook(input: { name: "Nothing lost", url: $url }) {
        ... on CreateWebhookPayload { webhook { id } }
      }
    }`,
    { url: receiver.url },
  );
  const webhook = hook.data?.createWebhook.webhook;
  if (!webhook) throw new Error(JSON.stringify(hook));
  const subscriber = startSubscriber(cluster, token, () => news());
  ends.defer(() => subscriber.stop());

  const acknowledged: string[] = [];
  const refused: string[] = [];
  let broken = 0;
  let unavailable = 0;
  let sent = 0;
  const { failOvers = [] } = ordeal;
  let failingOver: Promise<void> | undefined;
  let failure: unknown;
  const resumedAfterMs: number[] = [];
  let acknowledgedAt = performance.now();
  let longestGapMs = 0;
  let isBack = (_sentAt: number) => {};
  const acknowledge = (id: string, sentAt: number) => {
    isBack(sentAt);
    const now = performance.now();
    longestGapMs = Math.max(longestGapMs, now - acknowledgedAt);
    acknowledgedAt = now;
    acknowledged.push(id);
  };
  const create = async (writer: number) => {
    sent += 1;
    const username = `user_${sent}`;
    const key = ordeal.isKeyed ? username : undefined;
    for (let attempt = 0; ; attempt += 1) {
      const url = await cluster.url(writer + attempt);
      const sentAt = performance.now();
      try {
        const answer = await ask<{ createUser: { user?: { id: string } } }>(
          url,
          token,
          createUser,
          { username },
          key,
        );
        const id = answer.data?.createUser.user?.id;
        if (id !== undefined) acknowledge(id, sentAt);
        else if (passing.has(answer.errors?.[0]?.extensions?.code ?? '')) unavailable += 1;
        else refused.push(JSON.stringify(answer));
        if (id !== undefined || refused.length > 100) return id;
      } catch {
        broken += 1;
      }
      // Whoever asked without a pause would take the time that the failover needs.
      await lateBy(againMs);
      if (!key) return undefined;
    }
  };
  const isShareOver = (done: number, of: number) =>
    acknowledged.length >= ((done + 1) * ordeal.mutations) / (of + 1);
  const failOver = async (run: () => Promise<void>) => {
    await run();
    const overAt = performance.now();
    await new Promise<void>((resolve) => {
      isBack = (sentAt) => sentAt >= overAt && resolve();
    });
    resumedAfterMs.push(performance.now() - overAt);
    failingOver = undefined;
  };
  const write = async (writer: number) => {
    while (
      acknowledged.length < ordeal.mutations ||
      cluster.kills < ordeal.kills ||
      resumedAfterMs.length < failOvers.length
    ) {
      await create(writer);
      const next = failOvers[resumedAfterMs.length];
      if (next && isShareOver(resumedAfterMs.length, failOvers.length))
        failingOver ??= failOver(next).catch((error: unknown) => {
          failure = error;
        });
      if (failure) throw failure;
      const isDue = isShareOver(cluster.kills, ordeal.kills);
      if (isDue && cluster.kills < ordeal.kills && cluster.isWhole) {
        if (ordeal.workers) cluster.killWorker();
        else cluster.kill();
      }
      if (refused.length > 100) throw new Error(`Refused again and again: ${refused[0]}`);
    }
  };
  const begunAt = performance.now();
  await Promise.all(Array.from({ length: connections }, (_, writer) => write(writer)));
  await failingOver;
  const writtenAt = performance.now();
  await cluster.settled();

  // Once this event is in the log, so is everything committed before it, acknowledged or not.
  let last = await create(0);
  while (last === undefined && refused.length <= 100) last = await create(0);
  const url = await cluster.url(0);
  const isEnd = ({ data }: { data: Readonly<Record<string, unknown>> }) => data['id'] === last;
  let log = await readLog(url, token);
  while (!log.some(isEnd)) log = await readLog(url, token);
  const logIds = log.map(({ id }) => id);
  const logForWebhook = log
    .filter(({ name, data }) => !name.startsWith('Webhook.') || data['id'] !== webhook.id)
    .map(({ id }) => id);

  const patience = AbortSignal.timeout(settleMs);
  const sink = nats ? readSink(nats.url, logIds, patience) : undefined;
  const isComplete = () => subscriber.hasAll(logIds) && receiver.hasAll(logForWebhook);
  await new Promise<void>((resolve) => {
    news = () => {
      if (isComplete() || patience.aborted) resolve();
    };
    patience.addEventListener('abort', news);
    news();
  });
  const inSink = await sink;
  return {
    acknowledged,
    unavailable,
    resumedAfterMs,
    longestGapMs,
    refused,
    errors: cluster.errors,
    kills: cluster.kills,
    broken,
    log: logIds,
    logForWebhook,
    logged: log.filter(({ name }) => name === 'User.Created').map(({ data }) => String(data['id'])),
    webhook: [...receiver.ids],
    subscriber: [...subscriber.ids],
    disconnections: [...subscriber.disconnections],
    sink: inSink,
    mutationSeconds: (writtenAt - begunAt) / 1000,
    settleSeconds: (performance.now() - writtenAt) / 1000,
  };
}

/** The faults in the findings, as numbers; all are 0 if nothing was lost. */
export function lossesOf(findings: Findings) {
  const { acknowledged, log, logForWebhook, logged, webhook, subscriber, sink } = findings;
  const timesLogged = Map.groupBy(logged, (id) => id);
  const delivered = new Set(webhook);
  const isOther = (other: readonly string[]) => log.filter((id, index) => other[index] !== id);
  return {
    'acknowledged and not in the log': acknowledged.filter((id) => !timesLogged.has(id)).length,
    'in the log more than once': logged.length - timesLogged.size + log.length - new Set(log).size,
    'not delivered to the webhook': logForWebhook.filter((id) => !delivered.has(id)).length,
    'not seen by the subscriber': new Set(log).difference(new Set(subscriber)).size,
    'seen more than once': subscriber.length - new Set(subscriber).size,
    'seen in another place than in the log': isOther(subscriber).length,
    ...(sink
      ? {
          'not in the sink': new Set(log).difference(new Set(sink)).size,
          'in the sink in another place than in the log': isOther([...new Set(sink)]).length,
        }
      : {}),
  };
}
