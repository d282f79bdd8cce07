import { readFile } from 'node:fs/promises';
import { newId } from '../src/ids.ts';
import { startProcess } from '../test/support/process.ts';

/** The first application of such a service. */
export const admin = {
  id: newId('Application'),
  secret: 'a secret of more than thirty-two characters',
};

/** A running service, seen from outside. */
export interface Service {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the service in a process of its own, as `npm start` does. */
export async function startService(environment: Record<string, string>): Promise<Service> {
  const service = startProcess({
    NODE_ENV: 'production',
    ADMIN_CLIENT_ID: admin.id,
    ADMIN_CLIENT_SECRET: admin.secret,
    SIGNET_SECRET: 'a secret for the bench alone, long enough',
    ALLOW_PRIVATE_WEBHOOKS: 'true',
    ...environment,
  });
  const { port } = new URL(await service.ready);
  return {
    url: `http://localhost:${port}`,
    pid: service.child.pid as number,
    async stop() {
      service.child.kill('SIGTERM');
      await service.ended;
    },
  };
}

/** The memory of a process. */
export interface Memory {
  readonly rss: number;
  readonly pss: number;
  readonly peak: number;
}

/** In MB of 1,000 kB, as most tools show it. On Linux alone, which tells it in /proc. */
export async function memoryOf({ pid }: Service): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const read = (text: string, name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN) / 1000;
  return { rss: read(status, 'VmRSS'), pss: read(rollup, 'Pss'), peak: read(status, 'VmHWM') };
}

/** A token with all rights. */
export async function adminToken(url: string): Promise<string> {
  const response = await fetch(`${url}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: admin.id,
      client_secret: admin.secret,
      resource: 'urn:signet:management',
      scope: 'all',
    }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
