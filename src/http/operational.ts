import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram } from 'prom-client';
import type { Services } from '../services.ts';

/** Mounts liveness, readiness and metrics for operators, and logs one line for each request. */
export function mountOperational(http: FastifyInstance, services: Services): void {
  const { metrics } = services;
  collectDefaultMetrics({ register: metrics });
  const duration = new Histogram({
    name: 'signet_http_request_duration_seconds',
    help: 'Time from a request to the end of its response, in seconds.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [metrics],
  });

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

  http.get('/healthz', async (_request, reply) => reply.type('text/plain').send('ok\n'));

  http.get('/readyz', async (request, reply) => {
    reply.type('text/plain').header('cache-control', 'no-store');
    try {
      await services.database.prisma.$queryRaw`SELECT 1`;
      return reply.send('ready\n');
    } catch (error) {
      request.log.warn({ err: error }, 'the database does not answer');
      return reply.code(503).send('the database does not answer\n');
    }
  });

  http.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}
