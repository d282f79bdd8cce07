import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { TelemetrySettings } from '../../tracing/settings.ts';
import { isOfThisMachine } from './configuration.ts';
import { type Findings, patienceMs, whyNot } from './finding.ts';

const get = (url: string | URL, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(patienceMs), ...init });

/**
 * Asks the public URL who it is, as an application does, and whether WebSockets get there.
 *
 * @param keyIds The signing keys of the database that was looked at; undefined if none was.
 */
export async function checkPublicUrl(
  findings: Findings,
  baseUrl: string,
  keyIds: readonly string[] | undefined,
): Promise<void> {
  const check = 'public URL';
  const issuer = `${baseUrl}/oidc`;
  let response: Response;
  try {
    response = await get(`${issuer}/.well-known/openid-configuration`);
  } catch (error) {
    findings.fault(
      check,
      `${baseUrl} cannot be reached from here: ${whyNot(error)}.`,
      'Start the service, let the proxy and the name lead to it, or correct BASE_URL. If it is not to run now: --stopped.',
    );
    return;
  }
  if (response.status >= 300 && response.status < 400) {
    const to = response.headers.get('location') ?? '';
    findings.fault(
      check,
      `${baseUrl} leads on to ${URL.canParse(to, baseUrl) ? new URL(to, baseUrl).origin : 'elsewhere'}.`,
      'BASE_URL must be where it ends: the issuer of tokens cannot redirect.',
    );
    return;
  }
  const found = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (!response.ok || typeof found['issuer'] !== 'string') {
    findings.fault(
      check,
      `Discovery does not answer at ${issuer}/.well-known/openid-configuration: ${response.status}.`,
      response.status === 503
        ? 'The service is there, and its database is not: see above.'
        : 'Let the proxy pass the whole path on; with a path in BASE_URL, without that path.',
    );
    return;
  }
  if (found['issuer'] !== issuer) {
    findings.fault(
      check,
      `Discovery at ${baseUrl} names the issuer ${found['issuer']}, not ${issuer}.`,
      'Every node needs the same BASE_URL, and it must be the URL that clients use.',
    );
    return;
  }
  findings.ok(check, `Discovery answers at ${baseUrl}, and names itself.`);
  await checkKeys(findings, String(found['jwks_uri']), keyIds);
  await checkSockets(findings, baseUrl);
  if (isOfThisMachine(new URL(baseUrl).hostname)) return;
  const metrics = await get(`${baseUrl}/metrics`).catch(() => undefined);
  if (metrics?.ok && (await metrics.text()).includes('signet_')) {
    findings.warn(
      check,
      '/metrics is published.',
      'Let the proxy refuse it; Prometheus asks the nodes themselves.',
    );
  }
}

async function checkKeys(
  findings: Findings,
  url: string,
  keyIds: readonly string[] | undefined,
): Promise<void> {
  const answer = await get(url).catch(() => undefined);
  const { keys } = ((await answer?.json().catch(() => undefined)) ?? {}) as {
    readonly keys?: readonly { readonly kid?: string }[];
  };
  if (!keys) {
    findings.fault('keys', 'The key set does not answer.', 'See the log of the service.');
  } else if (keyIds && !keys.some(({ kid }) => keyIds.includes(kid ?? ''))) {
    findings.fault(
      'keys',
      'The keys that are published at the public URL are not those of this database.',
      'The service there has another database: compare its DATABASE_URL.',
    );
  }
}

async function checkSockets(findings: Findings, baseUrl: string): Promise<void> {
  const socket = new WebSocket(
    `${baseUrl.replace(/^http/, 'ws')}/graphql`,
    'graphql-transport-ws',
    { handshakeTimeout: patienceMs },
  );
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    findings.ok('sockets', 'WebSockets get through.');
  } catch (error) {
    findings.fault(
      'sockets',
      `WebSockets do not get through: ${whyNot(error)}.`,
      'Let the proxy pass on Upgrade and Connection at /graphql and /console/graphql, over HTTP/1.1: docs/operating.md has nginx’s lines.',
    );
  } finally {
    socket.on('error', () => undefined);
    socket.terminate();
  }
}

/** Asks the event sink whether it is a NATS server with JetStream. */
export async function checkSink(findings: Findings, url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const check = 'event sink';
  let socket: Socket | undefined;
  try {
    const greeting = await new Promise<string>((resolve, reject) => {
      socket = connect({ host: hostname, port: Number(port) || 4222, timeout: patienceMs });
      socket.once('data', (data) => resolve(data.toString('utf8')));
      socket.once('error', reject);
      socket.once('timeout', () => reject(new Error('there was no answer in time')));
      socket.once('close', () => reject(new Error('the connection was closed')));
    });
    const [, info] = /^INFO (\{.*\})/.exec(greeting) ?? [];
    if (!info) {
      findings.fault(check, 'What answers is no NATS server.', 'Correct EVENT_SINK_URL.');
    } else if ((JSON.parse(info) as { jetstream?: boolean }).jetstream !== true) {
      findings.fault(check, 'The NATS server has no JetStream.', 'Start it with --jetstream.');
    } else findings.ok(check, 'A NATS server with JetStream answers.');
  } catch (error) {
    findings.fault(
      check,
      `It cannot be reached: ${whyNot(error)}.`,
      'Start NATS, or correct EVENT_SINK_URL; events wait in the log meanwhile.',
    );
  } finally {
    socket?.destroy();
  }
}

/** Asks whether something takes traces and metrics. */
export async function checkCollector(
  findings: Findings,
  {
    OTEL_EXPORTER_OTLP_ENDPOINT: base,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces,
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: metrics,
  }: TelemetrySettings,
): Promise<void> {
  for (const url of new Set([traces ?? base, metrics ?? base])) {
    if (url === undefined) continue;
    try {
      await get(url, { method: 'HEAD' });
      findings.ok('telemetry', `The collector at ${new URL(url).host} answers.`);
    } catch (error) {
      findings.fault(
        'telemetry',
        `The collector at ${new URL(url).host} cannot be reached: ${whyNot(error)}.`,
        'Start it, or correct the endpoint: its port for HTTP is 4318. The service runs without it.',
      );
    }
  }
}
