import { connect, type Socket } from 'node:net';

/** What became of the requests that were due. */
export interface OpenLoopResult {
  /** The answers with 200, a second. */
  readonly accepted: number;
  /** The answers with 503, a second. */
  readonly refused: number;
  /** All else: other answers, broken connections, and what had no answer ten seconds after the end. */
  readonly failed: number;
  /** From the moment a request was due to its answer, of those with 200 and of those with 503, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly refusedP99: number;
  /** The most connections at a time. */
  readonly connections: number;
  /** How late the last requests were sent, at most, in milliseconds: the generator's own fault. */
  readonly lateMs: number;
}

/** A request as its bytes. */
export const requestOf = (
  { host }: URL,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string =>
  `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/**
 * Sends requests when they are due, whatever became of those before: over an idle connection, or a new one. So a server
 * that is slow gets no fewer of them, and each answer's time counts from when its request was due.
 *
 * @param rate Requests a second.
 */
export async function fireOpenLoop(
  url: string,
  nextRequest: () => string,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<OpenLoopResult> {
  const { hostname, port } = new URL(url);
  const idle: Socket[] = [];
  const latencies: { readonly good: number[]; readonly refused: number[] } = {
    good: [],
    refused: [],
  };
  const dueOf = new Map<Socket, number>();
  let failed = 0;
  let connections = 0;
  let lateMs = 0;

  function open(first: string): Socket {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    connections += 1;
    let head = '';
    let missing = 0;
    let status = '';
    socket.on('data', (chunk: Buffer) => {
      if (missing === 0) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        status = head.slice(9, 12);
        const length = /\r\ncontent-length: (\d+)/i.exec(head.slice(0, end));
        if (!length) throw new Error(`An answer has no length: ${head}`);
        missing = Number(length[1]) - (head.length - end - 4);
        head = '';
      } else missing -= chunk.length;
      if (missing > 0) return;
      missing = 0;
      const due = dueOf.get(socket) ?? 0;
      dueOf.delete(socket);
      const tookMs = performance.now() - due;
      if (status === '200') latencies.good.push(tookMs);
      else if (status === '503') latencies.refused.push(tookMs);
      else failed += 1;
      idle.push(socket);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (dueOf.delete(socket)) failed += 1;
      const place = idle.indexOf(socket);
      if (place >= 0) idle.splice(place, 1);
    });
    socket.write(first);
    return socket;
  }

  const start = performance.now();
  let sent = 0;
  const count = Math.round(rate * seconds);
  while (sent < count) {
    for (const now = performance.now(); sent < count; sent += 1) {
      const due = start + (sent * 1000) / rate;
      if (due > now) break;
      lateMs = Math.max(lateMs, now - due);
      const request = nextRequest();
      const known = idle.pop();
      if (known) known.write(request);
      dueOf.set(known ?? open(request), due);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  for (let waited = 0; dueOf.size > 0 && waited < 100; waited += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  failed += dueOf.size;
  for (const socket of [...idle, ...dueOf.keys()]) socket.destroy();
  const at = (values: number[], part: number) =>
    values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Number.NaN;
  return {
    accepted: latencies.good.length / seconds,
    refused: latencies.refused.length / seconds,
    failed,
    p50: at(latencies.good, 0.5),
    p99: at(latencies.good, 0.99),
    refusedP99: at(latencies.refused, 0.99),
    connections,
    lateMs,
  };
}

/** As many as may be under way at a time, each over its own connection. @returns Answers with 200, a second. */
export async function fireClosedLoop(
  url: string,
  nextRequest: () => string,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<number> {
  const { hostname, port } = new URL(url);
  let good = 0;
  const until = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise<void>((resolve, reject) => {
          const socket = connect(Number(port), hostname);
          socket.setNoDelay(true);
          let text = '';
          socket.on('data', (chunk: Buffer) => {
            text += chunk.toString('latin1');
            const end = text.indexOf('\r\n\r\n');
            const length = end === -1 ? undefined : /\r\ncontent-length: (\d+)/i.exec(text);
            if (!length || text.length < end + 4 + Number(length[1])) return;
            if (text.startsWith('HTTP/1.1 200')) good += 1;
            text = '';
            if (performance.now() < until) socket.write(nextRequest());
            else {
              socket.destroy();
              resolve();
            }
          });
          socket.on('error', reject);
          socket.write(nextRequest());
        }),
    ),
  );
  return good / seconds;
}
