import { expect, test } from 'vitest';
import { startService } from './support/service.ts';

const service = await startService();

test('answers that it lives and is ready', async () => {
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
});

test('shows its metrics in the Prometheus text format', async () => {
  const response = await fetch(`${service.url}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(await response.text()).toContain('# TYPE signet_http_request_duration_seconds histogram');
});
