import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { listenOn } from '../http/listener.ts';
import { backOffMs, provedMs } from './back-off.ts';
import { Distribution, type Taker } from './distribution.ts';
import type { ToPrimary, ToWorker } from './messages.ts';
import { type Measured, WorkerMetrics } from './metrics.ts';
import { createStandIn } from './stand-in.ts';
import { WorkerFailed } from './worker-failed.ts';

const program = fileURLToPath(new URL('../start.js', import.meta.url));

/** How often the workers tell their metrics though nobody asks: what one has counted since is lost when it is killed. */
const snapshotMs = 10_000;

/** The service in several processes. */
export interface Workers {
  /** The port that they are reached at. */
  readonly port: number;
  /** Makes all of them say that they are not ready, while they answer as before. */
  retire(): void;
  /** Takes no new connections, and waits for the workers to end. @returns Whether all ended well. */
  stop(): Promise<boolean>;
}

/** A process, and what has become of it. */
class Worker implements Taker, Measured {
  readonly child: ChildProcess;
  readonly number: number;
  /** When it began to answer requests, by the machine's steady clock. */
  readySince: number | undefined;

  constructor(number: number) {
    this.number = number;
    this.child = fork(program, ['worker', String(number)], { serialization: 'json' });
    // It may be dead already; then it says so.
    this.child.on('error', () => undefined);
  }

  get isReady(): boolean {
    return this.readySince !== undefined;
  }

  tell(message: ToWorker, socket?: Socket): void {
    if (!this.child.connected) return;
    this.child.send(message, socket, { keepOpen: true }, () => undefined);
  }

  send(id: number, socket: Socket): void {
    this.tell({ type: 'connection', id }, socket);
  }

  ask(id: number): void {
    this.tell({ type: 'metrics', id });
  }
}

/**
 * Starts the service in as many processes as the configuration says. This one listens, hands connections to those that
 * are ready, and starts again what dies; it opens no database.
 *
 * @throws {StartError} if the address is in use, {@link WorkerFailed} if the first worker cannot start.
 */
export async function startWorkers({
  config,
  log,
}: {
  readonly config: Config;
  readonly log: Logger;
}): Promise<Workers> {
  const standIn = createStandIn();
  const distribution = new Distribution({
    // Half of what a request may wait in all.
    longestMs: config.maxQueueMs / 2,
    answerHere: standIn.answer,
  });
  const server = createServer(
    { pauseOnConnect: true, noDelay: true, keepAlive: true, allowHalfOpen: true },
    (socket) => distribution.give(socket),
  );
  const port = await listenOn(server, config);

  const running = new Set<Worker>();
  const stopping = new AbortController();
  const ends: Promise<number>[] = [];
  let background: Worker | undefined;
  let isRetired = false;

  const metrics = new WorkerMetrics(() => {
    const ready = [...running].filter(({ isReady }) => isReady).length;
    return { ready, starting: running.size - ready };
  });
  const report = (error: unknown) => log.error({ err: error }, 'the metrics could not be read');
  const snapshots = setInterval(() => void metrics.read().catch(report), snapshotMs).unref();

  /** Makes a ready worker do the background work, if the one that did it has died. */
  function appointNext(): void {
    if (background || stopping.signal.aborted) return;
    background = [...running].find(({ isReady }) => isReady);
    background?.tell({ type: 'background' });
  }

  function hear(worker: Worker, message: ToPrimary): void {
    switch (message.type) {
      case 'ready':
        worker.readySince = performance.now();
        if (isRetired) worker.tell({ type: 'retire' });
        distribution.add(worker);
        appointNext();
        log.info({ worker: worker.number, pid: worker.child.pid }, 'a worker is ready');
        return;
      case 'taken':
        distribution.taken(worker, message.id, message.open);
        return;
      case 'open':
        distribution.opened(worker, message.open);
        return;
      case 'metrics':
        metrics.told(worker, message.id, message.metrics);
        return;
      case 'all-metrics':
        metrics
          .read()
          .then((text) => worker.tell({ type: 'all-metrics', id: message.id, text }))
          .catch(report);
    }
  }

  /** Starts a worker. @returns Whether it became ready, and how it ends: its exit code. */
  function start(number: number, { isFirst = false } = {}) {
    const worker = new Worker(number);
    const ready = Promise.withResolvers<boolean>();
    running.add(worker);
    metrics.add(worker);
    if (isFirst) background = worker;
    worker.child.on('message', (message: ToPrimary) => {
      hear(worker, message);
      if (message.type === 'ready') ready.resolve(true);
    });
    worker.tell({ type: 'begin', port, isFirst, isBackground: isFirst });
    // The channel's end comes after the last message: until then, a connection may have been taken. Node does not tell
    // of it by 'disconnect' if a connection was on its way when the process died, but always by 'close'.
    for (const end of ['disconnect', 'close'])
      worker.child.once(end, () => distribution.remove(worker));
    const ended = new Promise<number>((resolve) => {
      worker.child.once('exit', (code, signal) => {
        running.delete(worker);
        metrics.remove(worker);
        if (background === worker) background = undefined;
        appointNext();
        if (!stopping.signal.aborted)
          log.error({ worker: number, pid: worker.child.pid, code, signal }, 'a worker has died');
        ready.resolve(false);
        resolve(code ?? 1);
      });
    });
    ends.push(ended);
    return { worker, ready: ready.promise, ended };
  }

  /** Keeps one worker running, until the stop. */
  async function keep(number: number, begun: ReturnType<typeof start>): Promise<void> {
    let deaths = 0;
    for (let current = begun; ; current = start(number)) {
      await current.ended;
      ends.splice(ends.indexOf(current.ended), 1);
      const { readySince } = current.worker;
      const isProved = readySince !== undefined && performance.now() - readySince >= provedMs;
      deaths = isProved ? 1 : deaths + 1;
      const { signal } = stopping;
      await delay(backOffMs(deaths), undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  async function stop(): Promise<boolean> {
    stopping.abort();
    clearInterval(snapshots);
    const last = [...ends];
    server.close();
    for (const worker of running) worker.tell({ type: 'stop' });
    const codes = await Promise.all(last);
    distribution.stop();
    standIn.stop();
    return codes.every((code) => code === 0);
  }

  // The others start once the first has made the tables and the first records.
  const first = start(1, { isFirst: true });
  if (!(await first.ready)) {
    await stop();
    throw new WorkerFailed(await first.ended);
  }
  void keep(1, first);
  const others = stopping.signal.aborted
    ? []
    : Array.from({ length: config.workers - 1 }, (_, index) => {
        const other = start(index + 2);
        void keep(index + 2, other);
        return other.ready;
      });
  await Promise.all(others);
  return {
    port,
    retire() {
      isRetired = true;
      for (const worker of running) worker.tell({ type: 'retire' });
    },
    stop,
  };
}
