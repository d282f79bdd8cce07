import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createProcessDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess, workersOf } from '../support/process.ts';

const secret = 'a secret for tests only, and a long one';

function start(environment: Record<string, string>): ServiceProcess {
  const service = startProcess({ SIGNET_SECRET: secret, WORKERS: '2', ...environment });
  closeAtEnd(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  return service;
}

/** Asks over a connection of its own. */
function ask(
  url: string,
  path: string,
  {
    agent = false,
    body,
    token = '',
  }: { agent?: Agent | false; body?: object; token?: string } = {},
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const method = body ? 'POST' : 'GET';
    request(`${url}${path}`, { agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.once('end', () => resolve({ status: response.statusCode, text }));
      response.once('error', reject);
    })
      .once('error', reject)
      .end(body ? JSON.stringify(body) : undefined);
  });
}

/** How many connections to a port of this machine have sent what nobody has read. */
function waitingAt(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  return rows.filter((row) => {
    const [, local = '', , state, queues = ''] = row.trim().split(/\s+/);
    return local.endsWith(`:${port}`) && state === '01' && Number(`0x${queues.split(':')[1]}`) > 0;
  }).length;
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const adminIn = (stdout: string) => {
  const [, id = ''] = /ADMIN_CLIENT_ID=(\S+)/.exec(stdout) ?? [];
  const [, given = ''] = /ADMIN_CLIENT_SECRET=(\S+)/.exec(stdout) ?? [];
  return { id, secret: given };
};

describe.runIf(inject('postgresql'))('two workers', async () => {
  const database = inject('postgresql') ? await createProcessDatabase() : {};
  const service = inject('postgresql')
    ? start({ ...database, SHUTDOWN_DELAY_MS: '3000' })
    : undefined;
  if (!service) return;
  const url = await service.ready;
  const token = await fetchManagementToken({ url }, adminIn(service.stdout()));
  /** The process that answers a connection. */
  const pidAt = async (agent?: Agent): Promise<number> => {
    const { text } = await ask(url, '/graphql', {
      ...(agent ? { agent } : {}),
      token,
      body: { query: '{ service { nodeId } }' },
    });
    const { data } = JSON.parse(text) as { data: { service: { nodeId: string } } };
    return Number(data.service.nodeId.split('-').at(-1));
  };
  const counted = async (route: string): Promise<number> => {
    const { text } = await ask(url, '/metrics');
    const count = new RegExp(
      `signet_http_request_duration_seconds_count\\{[^}]*route="${route}"[^}]*\\} (\\d+)`,
    ).exec(text)?.[1];
    return Number(count ?? 0);
  };

  test('show once what is shown once', () => {
    expect(service.stdout().match(/ADMIN_CLIENT_SECRET=/g)).toHaveLength(1);
    expect(service.stdout().match(/\/console\/setup\?token=/g)).toHaveLength(1);
  });

  test('share the connections, each the same number', async () => {
    const agents = Array.from({ length: 6 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    onTestFinished(() => {
      for (const agent of agents) agent.destroy();
    });
    const pids: number[] = [];
    for (const agent of agents) pids.push(await pidAt(agent));
    expect(new Set(pids)).toEqual(new Set(workersOf(service)));
    const [one = 0, other = 0] = Map.groupBy(pids, (pid) => pid)
      .values()
      .map(({ length }) => length);
    expect(Math.abs(one - other)).toBeLessThanOrEqual(2);
    // The next request of a connection is answered by the same process.
    expect(await Promise.all(agents.map(pidAt))).toEqual(pids);
  });

  test('count together, and what a worker has counted stays when it is killed', async () => {
    const before = await counted('/api/users');
    for (let i = 0; i < 4; i += 1) await ask(url, '/api/users', { token });
    expect(await counted('/api/users')).toBe(before + 4);

    const [first, second] = workersOf(service) as [number, number];
    // A socket at each of them, as many as it takes.
    const sockets = new Map<number, WebSocket>();
    for (const agent of Array.from({ length: 8 }, () => new Agent({ keepAlive: true }))) {
      onTestFinished(() => agent.destroy());
      const pid = await pidAt(agent);
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
        agent,
      });
      onTestFinished(() => socket.terminate());
      await once(socket, 'open');
      const payload = { authorization: `Bearer ${token}` };
      socket.send(JSON.stringify({ type: 'connection_init', payload }));
      await once(socket, 'message');
      sockets.set(pid, socket);
    }
    expect(new Set(sockets.keys())).toEqual(new Set([first, second]));
    process.kill(first, 'SIGKILL');
    await expect.poll(() => sockets.get(first)?.readyState).toBe(WebSocket.CLOSED);
    await expect.poll(() => workersOf(service)).not.toContain(first);
    expect(workersOf(service)).toContain(second);
    expect(service.stdout()).toContain('a worker has died');
    expect(sockets.get(second)?.readyState).toBe(WebSocket.OPEN);
    expect(await counted('/api/users')).toBe(before + 4);
    const [replacing] = workersOf(service).filter((pid) => pid !== second);
    // It has the fewest connections.
    await expect.poll(() => pidAt()).toBe(replacing);
    expect(service.stdout().match(/\/console\/setup\?token=/g)).toHaveLength(1);
  });

  test('a connection on its way to a worker that dies is answered by another', async () => {
    const [first = 0, second = 0] = workersOf(service);
    // Both are stopped, so that each is sent one and takes none.
    for (const pid of [first, second]) process.kill(pid, 'SIGSTOP');
    const answers = Array.from({ length: 4 }, () => ask(url, '/healthz'));
    await expect.poll(() => waitingAt(url)).toBe(4);
    process.kill(first, 'SIGKILL');
    process.kill(second, 'SIGCONT');
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    await expect.poll(() => workersOf(service)).not.toContain(first);
  });

  test('a port that is in use is refused in one line, before anything else happens', async () => {
    const { port } = new URL(url);
    const second = start({ ...database, PORT: port });
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toMatch(/^Signet cannot start: HOST and PORT [^\n]*\n$/);
    expect(second.stdout()).toBe('');
  });

  test('a first worker that cannot start ends the service in one line', async () => {
    const other = start({ ...database, SIGNET_SECRET: 'another secret for tests, and long too' });
    expect(await other.ended).toBe(1);
    expect(other.stderr()).toMatch(/^Signet cannot start: SIGNET_SECRET [^\n]*\n$/);
  });

  test('take connections for a while after SIGTERM, though they are not ready, and end all', async () => {
    const pids = workersOf(service);
    service.child.kill('SIGTERM');
    // Each time over a new connection.
    await expect.poll(async () => (await ask(url, '/readyz')).text).toBe('stopping\n');
    expect(await service.ended).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('end when the process in front of them is killed', async () => {
    const next = start(database);
    await next.ready;
    const pids = workersOf(next);
    expect(pids).toHaveLength(2);
    next.child.kill('SIGKILL');
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });
});

test('with the embedded database more than one worker is refused in one line', async () => {
  const service = start({ DATABASE_URL: '' });
  expect(await service.ended).toBe(1);
  expect(service.stderr()).toMatch(
    /^Signet cannot start: WORKERS must be 1 with the embedded database[^\n]*\n$/,
  );
});
