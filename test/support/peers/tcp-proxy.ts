import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

/** A connection to a server that can be cut and restored. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks every connection, and refuses new ones until it is restored. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Passes nothing on from now on, without breaking a connection: the packets are lost. */
  freeze(): void;
  /** Breaks what was frozen, and passes data on again. */
  thaw(): void;
  close(): Promise<void>;
}

/**
 * Listens on its own port and passes data on in both directions.
 *
 * @param target Read anew for each connection, so it may move.
 */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    if (isFrozen) {
      keep(near);
      near.pause();
      return;
    }
    const far = connect(target);
    keep(near);
    keep(far);
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  const port = await freePort();
  await listen(port);
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return {
    port,
    cut,
    mend: () => listen(port),
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.destroy();
    },
    close: cut,
  };
}
