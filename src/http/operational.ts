import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { collectDefaultMetrics } from 'prom-client';
import { retryAfterSeconds } from '../failures.ts';
import { addGauge, type CounterName, counterOf, histogramOf } from '../metrics/metrics.ts';
import { version } from '../metrics/version.ts';
import { type PreviousSecretState, readPrevious } from '../secret-rotation/use.ts';
import { disagreementsOf } from '../service-status/nodes.ts';
import type { Services } from '../services.ts';
import { hashQueue } from '../users/hash-queue.ts';
import { importedChecks } from '../users/import/imported-checks.ts';

/** What is shown before it has happened once. */
const atStart: readonly CounterName[] = [
  'signet_operations_total',
  'signet_mutations_total',
  'signet_sign_ins_total',
];

/** In which variables other processes differ, without their values: a line of `/readyz`, if there are any. */
function disagreementsLine(services: Services): string {
  const names = disagreementsOf(services);
  return names.length === 0 ? '' : `other processes differ in: ${names.join(', ')}\n`;
}

/**
 * Mounts liveness, readiness and metrics for operators, and logs one line for each request.
 *
 * @param options.isRetired Whether the service is about to stop.
 * @param options.readMetrics Reads the metrics, in Prometheus' text format.
 */
export function mountOperational(
  http: FastifyInstance,
  services: Services,
  {
    isRetired,
    readMetrics,
  }: { readonly isRetired: () => boolean; readonly readMetrics: () => Promise<string> },
): void {
  const { metrics } = services;
  collectDefaultMetrics({ register: metrics });
  for (const name of atStart) counterOf(metrics, name);
  addGauge(metrics, 'signet_build_info', (gauge) => gauge.set({ version }, 1));
  addGauge(metrics, 'signet_database_pool_connections', (gauge) => {
    for (const [pool, { inUse, idle, waiting }] of Object.entries(services.database.pools())) {
      gauge.set({ pool, state: 'in_use' }, inUse);
      gauge.set({ pool, state: 'idle' }, idle);
      gauge.set({ pool, state: 'waiting' }, waiting);
    }
  });
  const { replicas } = services.database;
  if (replicas) {
    counterOf(metrics, 'signet_reads_total');
    addGauge(metrics, 'signet_replicas', (gauge) => {
      const states = replicas.states();
      const used = states.filter(({ isUsed }) => isUsed).length;
      gauge.set({ state: 'in_use' }, used);
      gauge.set({ state: 'left_out' }, states.length - used);
    });
    addGauge(metrics, 'signet_replica_lag_seconds', (gauge) => {
      for (const { number, lagMs } of replicas.states())
        gauge.set({ replica: number }, lagMs / 1000);
    });
  }
  addGauge(metrics, 'signet_hash_queue_waiting', (gauge) => {
    gauge.set({ queue: 'own' }, hashQueue.waiting);
    gauge.set({ queue: 'imported' }, importedChecks.queue.waiting);
  });
  const duration = histogramOf(metrics, 'signet_http_request_duration_seconds');

  http.addHook('onResponse', async (request, reply) => {
    // The route, not the URL: a URL may hold a code or a token.
    const route = request.routeOptions.url ?? 'none';
    const durationMs = reply.elapsedTime;
    duration.observe(
      { method: request.method, route, status: reply.statusCode },
      durationMs / 1000,
    );
    request.log.debug(
      { method: request.method, route, status: reply.statusCode, durationMs },
      'request',
    );
  });

  const config = { turn: 'none' } as const;
  http.get('/healthz', { config }, async (_request, reply) =>
    reply.type('text/plain').send('ok\n'),
  );

  http.get('/readyz', { config }, async (request, reply) => {
    reply.type('text/plain').header('cache-control', 'no-store');
    if (isRetired()) return reply.code(503).send('stopping\n');
    try {
      const state = await services.database.state();
      if (state !== 'ready') return reply.code(503).send(`the database is ${state}\n`);
      const lines = await previousSecretLine(services, request.log);
      return reply.send(`ready\n${lines}${disagreementsLine(services)}`);
    } catch (error) {
      request.log.warn({ err: error }, 'the database does not answer');
      return reply
        .code(503)
        .header('retry-after', retryAfterSeconds)
        .send('the database does not answer\n');
    }
  });

  http.get('/metrics', { config }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await readMetrics()),
  );
}

const sayings: Readonly<Record<PreviousSecretState, string>> = {
  UNUSED: ': not used yet',
  IN_USE: ': in use by other nodes',
  RE_ENCRYPTING: ': re-encrypting',
  RE_ENCRYPTED: ': re-encrypted',
  NO_LONGER_NEEDED: ' is no longer needed',
};

/** The second line of `/readyz` while there is a previous secret. */
async function previousSecretLine(services: Services, log: FastifyBaseLogger): Promise<string> {
  try {
    const previous = await readPrevious(services);
    return previous ? `SIGNET_SECRET_PREVIOUS${sayings[previous.state]}\n` : '';
  } catch (err) {
    // The database has just answered: a busy pool makes no node unready.
    log.warn({ err }, 'the use of the previous secret could not be read');
    return '';
  }
}
